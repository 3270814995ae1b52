import { Anchor } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'react-router'
import { useChipText } from '../events/filter-chips.ts'
import { useJourneyChoices } from '../journeys/journey-choices.ts'
import { useMembership } from '../session/session.ts'

/** Links to journeys by their names. */
export function JourneyNames({ journey_ids }: { journey_ids: readonly string[] }) {
  return journey_ids.map((journey_id, index) => (
    <Fragment key={journey_id}>
      {index > 0 && ', '}
      <JourneyName journey_id={journey_id} />
    </Fragment>
  ))
}

function JourneyName({ journey_id }: { journey_id: string }) {
  const { workspace_id } = useMembership()
  return (
    <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${journey_id}`}>
      {useChipText(useJourneyChoices(), journey_id)}
    </Anchor>
  )
}
