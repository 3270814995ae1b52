import { Anchor, List, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { countOf } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { type ReportQuery, searchOf } from './report-filters.ts'

/** The customers who completed steps without those before. */
export function OutOfOrder({ report, query }: { report: Schemas['JourneyReport']; query: ReportQuery }) {
  const { workspace_id } = useMembership()
  const steps = report.steps.filter(({ out_of_order }) => out_of_order > 0)
  return (
    <div>
      <Text size="sm" fw={600}>
        Completed out of order (not counted above)
      </Text>
      <List size="sm">
        {steps.map(({ step, event_id, name, out_of_order }) => (
          <List.Item key={event_id} className="breakable">
            <Anchor
              component={Link}
              inherit
              to={`/w/${workspace_id}/journeys/${report.journey_id}/customers${searchOf({ ...query, out_of_order: step })}`}
            >
              {countOf(out_of_order, 'customer')}
            </Anchor>{' '}
            completed “{isolated(name)}” without the steps before it
          </List.Item>
        ))}
      </List>
    </div>
  )
}
