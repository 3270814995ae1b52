import { Alert, Anchor, List, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useReceivedNames } from '../journeys/received-names.ts'
import { countOf } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

type Step = Pick<Schemas['JourneyReportStep'], 'step' | 'event_id' | 'name'>

/**
 * Warns about steps that were never reached while the journey received events whose name differs from the step's only by case
 * or separators. Considers the most frequent names of the last 30 days.
 */
export function MistakenNames({ journey_id, steps }: { journey_id: string; steps: readonly Step[] }) {
  const { workspace_id, canChange } = useMembership()
  const received = useReceivedNames(journey_id)
  const mistaken = steps
    .filter(({ event_id }) => !received.has(event_id))
    .flatMap((step) =>
      [...received]
        .filter(([name]) => plainName(name) === plainName(step.event_id))
        .map(([name, { count }]) => ({ step, name, count })),
    )
  if (mistaken.length === 0) return null
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle aria-hidden />}
      title="Event names differ from a step only by case or separators"
    >
      <List size="sm">
        {mistaken.map(({ step, name, count }) => (
          <List.Item key={`${step.step} ${name}`} className="breakable">
            Step {step.step}, “{isolated(step.name)}”, expects <Name>{step.event_id}</Name> and was never
            reached. This journey received <Name>{name}</Name>: {countOf(count, 'event')} in the last 30 days.
          </List.Item>
        ))}
      </List>
      <Text size="sm" mt="xs">
        Names must match exactly. Change the name in the program that sends it, or in the step:{' '}
        {canChange ? (
          <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${journey_id}/settings`}>
            Edit steps
          </Anchor>
        ) : (
          'an owner or admin of the workspace can edit it.'
        )}
      </Text>
    </Alert>
  )
}

function Name({ children }: { children: string }) {
  return (
    <Text span inherit ff="monospace" fw={600}>
      {isolated(children)}
    </Text>
  )
}

/** A name without case, spaces and punctuation: `Signed Up`, `signed-up` and `signedUp` are equal. */
function plainName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, '')
  return plain === '' ? name : plain
}
