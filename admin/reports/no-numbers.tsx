import { Button } from '@mantine/core'
import { IconListNumbers, IconRoute } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { NoMatches } from '../parts/filters/no-matches.tsx'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

/** Shown if the journey has no steps to report on. */
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
            Define steps
          </Button>
        )
      }
    >
      Steps are the events of your funnel, in order, for example: signed up, chose a plan, paid. Once they are
      defined, this page shows how many customers reach each step, where they drop off and how long they take,
      including all events received so far.{' '}
      {report.enrolled > 0 && `${countOf(report.enrolled, 'customer')} already entered. `}
      {!canChange && 'An owner or admin of the workspace can define them.'}
    </EmptyState>
  )
}

/** Shown if no customer entered, or none matches the filters. */
export function NobodyEntered({ journey, onClear }: { journey: Schemas['Journey']; onClear?: () => void }) {
  const { workspace_id } = useMembership()
  if (onClear) {
    return (
      <NoMatches items="customers" onClear={onClear}>
        The time filters apply to when customers entered the journey, not to when they reached a step.
      </NoMatches>
    )
  }
  const isActive = journey.status === 'active'
  return (
    <EmptyState
      title="No customers have entered this journey yet"
      icon={<IconRoute />}
      action={
        isActive && (
          <Button component={Link} to={`/w/${workspace_id}/first-event?journey=${journey.journey_id}`}>
            Send the first event
          </Button>
        )
      }
    >
      The steps are defined:{' '}
      <span className="breakable">
        {listFormat.format(journey.steps.map(({ name, event_id }) => visibleName(name, event_id)))}
      </span>
      .{' '}
      {isActive
        ? 'The report appears here as soon as customers and events arrive.'
        : 'No customers can enter while the journey is archived.'}
    </EmptyState>
  )
}

const listFormat = new Intl.ListFormat('en')
