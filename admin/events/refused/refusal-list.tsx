import { Stack, Table, Text, UnstyledButton } from '@mantine/core'
import type { Schemas } from '../../../client/person.ts'
import { millisecondsText, shortDayText } from '../../parts/instants/instant-text.ts'
import { LoadMore } from '../../parts/lists/load-more.tsx'
import { usePages } from '../../parts/lists/pages.ts'
import { Loading } from '../../parts/loading.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { isolated } from '../../parts/visible-name.ts'
import { taken } from '../../problem.ts'
import { useCairn, useWorkspaceKey } from '../../session/session.ts'
import { outcomes } from './refusal-details.tsx'

/** The filters of the screen other than code and key. */
export type OtherFilters = Pick<
  Schemas['RefusalReplay'],
  'journey_id' | 'customer_id' | 'event_id' | 'received_from' | 'received_to'
>

type Filter = OtherFilters & Pick<Schemas['RefusalReplay'], 'code' | 'key_id'>

/** Opens one of the listed requests. */
export type OpenRefusal = (refusal_id: string, listed: readonly string[]) => void

/**
 * Rejected requests with a code and a key, the latest first.
 * @param countedFrom only those from this instant on; the list is not read again when it moves on, and keeps its pages
 * @param field only those about this field
 */
export function RefusalList({
  filter,
  countedFrom,
  field,
  onOpen,
}: {
  filter: Filter
  countedFrom: string
  field: string | null
  onOpen: OpenRefusal
}) {
  const cairn = useCairn()
  const refusals = usePages(useWorkspaceKey('refusals', 'list', filter), (cursor, signal) =>
    taken(cairn.listRefusals({ query: { ...filter, limit: 20, ...(cursor && { cursor }) }, signal })),
  )
  const rows = refusals.items.filter(
    (refusal) => refusal.received_at >= countedFrom && fieldOf(refusal) === (field ?? ''),
  )
  const ids = rows.map(({ refusal_id }) => refusal_id)
  return (
    <Stack gap="xs">
      {refusals.isPending && <Loading lines={3} />}
      <ProblemAlert error={refusals.listError} />
      {rows.length > 0 && (
        <Table className="event-rows" aria-label="Rejected requests" layout="fixed" verticalSpacing={3}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={{ base: '7.5rem', sm: '11rem' }}>Received</Table.Th>
              <Table.Th>Event</Table.Th>
              <Table.Th visibleFrom="sm">Customer</Table.Th>
              <Table.Th w={{ base: '7rem', sm: '11rem' }}>Replay</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ refusal_id, received_at, event_id, customer_id, operation, replay }) => (
              <Table.Tr key={refusal_id} onClick={() => onOpen(refusal_id, ids)}>
                <Table.Td>
                  <UnstyledButton className="event-time" aria-haspopup="dialog">
                    <Text span inherit c="dimmed" visibleFrom="sm">
                      {shortDayText(new Date(received_at))}{' '}
                    </Text>
                    {millisecondsText(new Date(received_at))}
                  </UnstyledButton>
                </Table.Td>
                <Table.Td ff="monospace">{isolated(event_id ?? operation)}</Table.Td>
                <Table.Td visibleFrom="sm" ff="monospace">
                  {isolated(customer_id ?? '–')}
                </Table.Td>
                <Table.Td>{replay ? outcomes[replay.outcome] : '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <LoadMore query={refusals} />
    </Stack>
  )
}

/** The contract's maximum length of a group's field. */
const fieldLimit = 255

/** What the names of fields look like at the start of a pointer, and indexes of lists. */
const names = /^(?:\/(?!(?:[^/\d]*\d){5})(?:[A-Za-z_$][\w$.-]{0,39}|\d+)(?=\/|$))*/

/**
 * As the server groups them: by the first error, without its index in a batch or unknown names that may be values,
 * truncated. '' if it is about no field.
 */
function fieldOf({ operation, errors: [fault] }: Schemas['Refusal']): string {
  const { pointer = '', parameter, code = 'unexpected' } = fault ?? {}
  const namesOf = (place: string) => names.exec(place)?.[0] ?? ''
  if (parameter !== undefined) return `?${namesOf(`/${parameter}`).slice(1)}`
  const place = operation === 'createEvents' ? pointer.replace(/^\/events\/\d+(?=\/)/, '') : pointer
  const field = code === 'unexpected' ? namesOf(place) : place
  // Without a NUL, and without half a character or half an escape at the end.
  return field.slice(0, fieldLimit).replaceAll('\0', '\ufffd').toWellFormed().replace(/~$/, '')
}
