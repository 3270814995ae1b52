import { List, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { violatedField } from './value-words.ts'

type Violation = Schemas['DefinitionTrial']['violations'][number]

/** How many of the latest stored events conform to a definition; of those that do not, who sent them and what is wrong. */
export function Trial({ trial }: { trial: Schemas['DefinitionTrial'] }) {
  const { examined, not_conforming, by_key, violations } = trial
  if (examined === 0) return <Text size="sm">No stored event has this name yet.</Text>
  if (not_conforming === 0) {
    return (
      <Text size="sm">
        {examined === 1
          ? 'The only event examined conforms.'
          : `All of the latest ${countText(examined)} events conform.`}
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        <strong>
          Of the latest {countOf(examined, 'event')}, {countText(not_conforming)}{' '}
          {not_conforming === 1 ? 'does' : 'do'} not conform
        </strong>
        {by_key.length > 0 && ':'}
      </Text>
      <List size="sm">
        {by_key.map(({ key_id, events }) => (
          <List.Item key={key_id}>
            {countOf(events, 'event')} from <KeyName keyId={key_id} />
          </List.Item>
        ))}
      </List>
      {violations.length > 0 && (
        <>
          <Text size="sm">What is wrong with them:</Text>
          <List size="sm">
            {violations.map((violation) => (
              <List.Item
                key={`${violation.code} ${violation.pointer} ${violation.expected}`}
                className="breakable"
              >
                {violationText(violation)} ({countOf(violation.events, 'event')})
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}

function KeyName({ keyId }: { keyId: string | null }) {
  const name = useKeyName(keyId ?? '')
  return keyId === null ? 'an unknown key' : name
}

function violationText({ code, pointer, expected }: Violation): string {
  const field = violatedField(pointer)
  switch (code) {
    case 'missing':
      return `${field} is missing; expected ${isolated(expected)}`
    case 'unexpected':
      return `${field} is not defined`
    default:
      return `${field} must be ${isolated(expected)}`
  }
}
