import { Button } from '@mantine/core'
import { IconFilter, IconListNumbers, IconRoute } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

/** Where a journey has no steps to report on. */
export function NoSteps({
  journey,
  report,
}: {
  journey: Schemas['Journey']
  report: Schemas['JourneyReport']
}) {
  const { workspace_id, canChange } = useMembership()
  return (
    <EmptyState
      title="This journey has no steps yet"
      icon={<IconListNumbers />}
      action={
        canChange && (
          <Button component={Link} to={`/w/${workspace_id}/journeys/${journey.journey_id}/settings`}>
            Define the steps
          </Button>
        )
      }
    >
      Steps are the events that mark a customer’s way, in their order: signed up, chose a plan, paid. Once
      they are defined, this page shows how many customers reach each, where they stop and how long they take,
      for all events received so far.{' '}
      {report.enrolled > 0 && `${countOf(report.enrolled, 'customer')} entered already. `}
      {!canChange && 'An owner or an admin of the workspace can define them.'}
    </EmptyState>
  )
}

/** Where no customer entered, or none with these filters. */
export function NobodyEntered({ journey, onClear }: { journey: Schemas['Journey']; onClear?: () => void }) {
  const { workspace_id } = useMembership()
  if (onClear) {
    return (
      <EmptyState
        title="Nobody entered with these filters"
        icon={<IconFilter />}
        action={
          <Button variant="default" onClick={onClear}>
            Show all customers
          </Button>
        }
      >
        Filters are by when a customer entered the journey, not by when it reached a step.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="Nobody has entered this journey yet"
      icon={<IconRoute />}
      action={
        journey.status === 'active' && (
          <Button component={Link} to={`/w/${workspace_id}/first-event?journey=${journey.journey_id}`}>
            Send the first event
          </Button>
        )
      }
    >
      The steps are defined:{' '}
      <span style={{ overflowWrap: 'anywhere' }}>
        {listed(journey.steps.map(({ name, event_id }) => visibleName(name, event_id)))}
      </span>
      . The report fills here by itself as soon as customers and events arrive.
    </EmptyState>
  )
}

const listFormat = new Intl.ListFormat('en')

function listed(words: string[]): string {
  return listFormat.format(words)
}
