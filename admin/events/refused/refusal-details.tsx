import { Anchor, Box, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../../client/person.ts'
import { useKeyName } from '../../keys/key-name.tsx'
import { Fact } from '../../parts/fact.tsx'
import { Identifier } from '../../parts/identifier.tsx'
import { Instant } from '../../parts/instant.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { countText } from '../../parts/number-text.ts'
import { exactText } from '../event-drawer.tsx'
import { cureOf } from './cures.ts'

type Refusal = Schemas['Refusal']

/** What to do about a code, and where the reference says more. */
export function CureText({ code }: { code: string }) {
  return (
    <Text size="sm" maw="46rem">
      {cureOf(code).text}{' '}
      <Anchor inherit href={`/docs/problems#${code}`} target="_blank" rel="noreferrer">
        About {code}
      </Anchor>
    </Text>
  )
}

/** What is wrong in its form, field by field; nothing where that is not why it was refused. */
export function FaultList({
  refusal: { errors, errors_omitted },
}: {
  refusal: Pick<Refusal, 'errors' | 'errors_omitted'>
}) {
  if (errors.length === 0) return null
  return (
    <Text size="sm" component="ul" m={0} pl="md">
      {errors.map(({ pointer, parameter, detail }) => (
        <li key={`${pointer ?? parameter} ${detail}`}>
          <Text span inherit ff="monospace" fw={600}>
            <bdi>{parameter ? `?${parameter}` : pointer || 'the body'}</bdi>
          </Text>{' '}
          {detail}
        </li>
      ))}
      {errors_omitted > 0 && <li>{countText(errors_omitted)} more</li>}
    </Text>
  )
}

/** All that is kept of a refusal. */
export function RefusalDetails({ refusal }: { refusal: Refusal }) {
  const keyName = useKeyName(refusal.key_id)
  const { replay } = refusal
  return (
    <Stack gap="sm">
      <FaultList refusal={refusal} />
      <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="xs">
        <Fact name="Received">{exactText(refusal.received_at)}</Fact>
        <Fact name="Sent to">
          {refusal.operation}
          {refusal.item !== null && `, item ${refusal.item}`}
        </Fact>
        <Fact name="Answered">
          {refusal.status} {refusal.code}
        </Fact>
        <Fact name="Sent with">{keyName}</Fact>
        <Fact name="Request id">
          <Identifier value={refusal.request_id} label="request id" />
        </Fact>
        <Fact name="Sent again">
          {replay ? (
            <>
              {outcomes[replay.outcome]}
              {replay.code && ` by ${replay.code}`}, <Instant at={replay.at} />
            </>
          ) : (
            'never'
          )}
        </Fact>
      </SimpleGrid>
      <Box>
        <Text size="xs" c="dimmed" mb={4}>
          What was sent
          {refusal.sent_bytes > refusal.sent.length &&
            `, the beginning of ${countText(refusal.sent_bytes)} bytes`}
        </Text>
        <Sent text={refusal.sent} />
      </Box>
    </Stack>
  )
}

export const outcomes: Record<Schemas['RefusalReplayOutcome'], string> = {
  replayed: 'stored',
  duplicate: 'was there already',
  refused: 'refused again',
  incomplete: 'cannot be sent',
}

/** As a tree where it is whole, else as it was sent. */
function Sent({ text }: { text: string }) {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return (
      <Box
        component="pre"
        className="json-tree"
        m={0}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {text}
      </Box>
    )
  }
  return <JsonTree value={value} label="Copy what was sent" />
}
