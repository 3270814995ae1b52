import { Anchor, Box, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../../client/person.ts'
import { useKeyName } from '../../keys/key-name.tsx'
import { Fact } from '../../parts/fact.tsx'
import { Identifier } from '../../parts/identifier.tsx'
import { Instant } from '../../parts/instants/instant.tsx'
import { exactText } from '../../parts/instants/instant-text.ts'
import { JsonTree } from '../../parts/json/json-tree.tsx'
import { countText } from '../../parts/number-text.ts'
import { isolated } from '../../parts/visible-name.ts'
import { cureOf } from './cures.ts'

type Refusal = Schemas['Refusal']

/** How to fix a code, with a link to the reference. */
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

/** The validation errors by field; renders nothing if the request was rejected for another reason. */
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
            {isolated(parameter ? `?${parameter}` : pointer || 'the body')}
          </Text>{' '}
          {detail}
        </li>
      ))}
      {errors_omitted > 0 && <li>{countText(errors_omitted)} more</li>}
    </Text>
  )
}

/** All details of a rejected request. */
export function RefusalDetails({ refusal }: { refusal: Refusal }) {
  const keyName = useKeyName(refusal.key_id)
  const { replay } = refusal
  const kept_bytes = new TextEncoder().encode(refusal.sent).length
  return (
    <Stack gap="sm">
      <FaultList refusal={refusal} />
      <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="xs">
        <Fact name="Received">{exactText(new Date(refusal.received_at))}</Fact>
        <Fact name="Operation">
          {refusal.operation}
          {refusal.item !== null && `, item ${refusal.item}`}
        </Fact>
        <Fact name="Response">
          {refusal.status} {refusal.code}
        </Fact>
        <Fact name="Service key">{keyName}</Fact>
        <Fact name="Request ID">
          <Identifier value={refusal.request_id} label="request ID" />
        </Fact>
        <Fact name="Replay">
          {replay ? (
            <>
              {outcomes[replay.outcome]}
              {replay.code && ` with ${replay.code}`}, <Instant at={replay.at} relative />
            </>
          ) : (
            'Not replayed'
          )}
        </Fact>
      </SimpleGrid>
      <Box>
        <Text size="xs" c="dimmed" mb={4}>
          Request body
          {kept_bytes < refusal.sent_bytes &&
            ` (${countText(kept_bytes)} of ${countText(refusal.sent_bytes)} bytes)`}
        </Text>
        <Sent text={refusal.sent} />
      </Box>
    </Stack>
  )
}

export const outcomes: Record<Schemas['RefusalReplayOutcome'], string> = {
  replayed: 'stored',
  duplicate: 'duplicate',
  refused: 'rejected again',
  incomplete: 'not replayable',
}

/** As a JSON tree if it is complete, otherwise as plain text. */
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
  return <JsonTree value={value} label="Copy request body" />
}
