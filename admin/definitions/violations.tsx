import { Box, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { Bars, ChartFigure } from '../parts/charts/chart-figure.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { dayText } from '../parts/instants/instant-text.ts'
import { day_ms } from '../parts/instants/lengths.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { violatedField } from './value-words.ts'

type Kind = Schemas['DefinitionViolationKind']

/** How many days (UTC) are counted, including today. */
const violationDays = 30

/** When the first of them began. */
export function violationsFrom(): string {
  const today = Math.floor(Date.now() / day_ms)
  return new Date((today - violationDays + 1) * day_ms).toISOString()
}

/** How events violated a definition over the last days. */
export function Violations({ definition_id }: Pick<Schemas['EventDefinition'], 'definition_id'>) {
  const cairn = useCairn()
  const { data, error, refetch } = useQuery({
    queryKey: useWorkspaceKey('definitions', definition_id, 'violations'),
    queryFn: ({ signal }) =>
      taken(
        cairn.listDefinitionViolations({ path: { definition_id }, query: { days: violationDays }, signal }),
      ),
  })
  return (
    <section aria-labelledby="violations-heading">
      <Title order={2} size="h4" mb="sm" id="violations-heading">
        Violations
      </Title>
      {data && <Counted violations={data} />}
      {!data && !error && <Loading lines={2} />}
      <ProblemAlert error={error} onRetry={() => refetch()} />
    </section>
  )
}

function Counted({ violations }: { violations: Schemas['DefinitionViolations'] }) {
  const { stored, rejected, kinds } = violations
  if (stored + rejected === 0) {
    return <Text size="sm">No event has violated this definition in the last {violationDays} days.</Text>
  }
  const perDay = violations.days.map((day) => ({
    key: day.day,
    label: dayText(new Date(day.day), 'UTC'),
    ...day,
  }))
  return (
    <Stack gap="md">
      <ChartFigure
        sentence={`${countOf(stored + rejected, 'event')} did not conform in the last ${violationDays} days (UTC): ${countText(stored)} stored, ${countText(rejected)} rejected.`}
        height={160}
        columns={[
          { key: 'day', label: 'Day' },
          { key: 'stored', label: 'Stored' },
          { key: 'rejected', label: 'Rejected' },
        ]}
        rows={perDay.toReversed().map((day) => ({
          key: day.key,
          cells: [day.label, countText(day.stored), countText(day.rejected)],
        }))}
      >
        <Bars
          bars={perDay.map((day) => ({ label: day.label, value: day.stored + day.rejected }))}
          noun="Events"
        />
      </ChartFigure>
      <KindTable kinds={kinds} />
    </Stack>
  )
}

function KindTable({ kinds }: { kinds: readonly Kind[] }) {
  return (
    <Table aria-label="Violations" layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>What is wrong</Table.Th>
          <Table.Th visibleFrom="sm" w="26%">
            Key
          </Table.Th>
          <Table.Th visibleFrom="sm" w={150}>
            Outcome
          </Table.Th>
          <Table.Th w={80} ta="right">
            Events
          </Table.Th>
          <Table.Th visibleFrom="md" w={150}>
            Last
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {kinds.map((kind) => (
          <KindRow
            key={`${kind.code} ${kind.pointer} ${kind.revision} ${kind.key_id} ${kind.outcome}`}
            kind={kind}
          />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function KindRow({ kind }: { kind: Kind }) {
  const { code, pointer, revision, key_id, outcome, events, last_at } = kind
  const name = useKeyName(key_id ?? '')
  const key = key_id === null ? 'Several keys' : name
  const outcomeText = `${outcome === 'stored' ? 'Stored' : 'Rejected'}, revision ${countText(revision)}`
  return (
    <Table.Tr>
      <Table.Td className="breakable">
        {codeTexts[code] ?? code}
        {code !== 'other' && (
          <>
            {': '}
            <Text span inherit ff="monospace">
              {violatedField(pointer)}
            </Text>
          </>
        )}
        <Box hiddenFrom="sm" fz="xs">
          {outcomeText}, {key}
        </Box>
        <Box hiddenFrom="md" fz="xs">
          Last <Instant at={last_at} relative />
        </Box>
      </Table.Td>
      <Table.Td visibleFrom="sm" className="breakable">
        {key}
      </Table.Td>
      <Table.Td visibleFrom="sm">{outcomeText}</Table.Td>
      <Table.Td ta="right">{countText(events)}</Table.Td>
      <Table.Td visibleFrom="md">
        <Instant at={last_at} relative />
      </Table.Td>
    </Table.Tr>
  )
}

const codeTexts: Record<Kind['code'], string> = {
  missing: 'Missing',
  unexpected: 'Undefined field',
  wrong_type: 'Wrong type',
  not_in_enum: 'Not an allowed value',
  out_of_bounds: 'Out of bounds',
  wrong_format: 'Wrong format',
  other: 'Further kinds of violations',
}
