import { Anchor, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { countText } from '../parts/number-text.ts'
import { useMembership } from '../session/session.ts'
import { useDayActivity, useDayRefusals } from './last-day.ts'
import { OverviewPart, OverviewTable } from './overview-part.tsx'
import { type Rejections, rejectionCount, rejectionsOf, rejectionText } from './rejections.ts'

const columns = [
  { name: 'Key' },
  { name: 'Rejected', width: '35%' },
  { name: 'Created', width: 80, isNumber: true },
  { name: 'Last used', width: 180, onlyWide: true },
]

/** What was rejected in the last 24 hours, by service key. */
export function Refused() {
  const { canChange } = useMembership()
  const activity = useDayActivity()
  const refusals = useDayRefusals()
  const isRead = activity.data !== undefined && refusals.data !== undefined
  const rejections = isRead && rejectionsOf(activity.data.total, refusals.data ?? undefined)
  const keys = isRead ? rejectingKeys(activity.data, refusals.data) : []
  return (
    <OverviewPart
      title="Rejected requests"
      to="events/refused"
      all={canChange && 'All rejected requests'}
      query={activity.error ? activity : refusals}
    >
      {rejections && (
        <Text size="sm" mb={keys.length > 0 ? 'xs' : 0}>
          {rejectionCount(rejections) === 0
            ? 'None in the last 24 hours.'
            : `In the last 24 hours: ${rejectionText(rejections)}. Each response told the sender the reason.`}
          {!canChange && ' Requests that were rejected as a whole are shown only to owners and admins.'}
        </Text>
      )}
      {keys.length > 0 && (
        <OverviewTable label="Rejected by key" columns={columns}>
          {keys.map((key) => (
            <RefusedLine key={key.key_id} {...key} />
          ))}
        </OverviewTable>
      )}
    </OverviewPart>
  )
}

type RejectingKey = { key_id: string | null; rejections: Rejections; created: number; last_at: string }

/** The keys with rejections, most rejections first. */
function rejectingKeys(
  { groups }: Schemas['Activity'],
  refusals: Schemas['RefusalSummary'] | null,
): RejectingKey[] {
  const keys = new Map<string | null, RejectingKey>()
  for (const { key_id, rejected, created, last_at } of groups) {
    const rejections = { events: rejected, requests: 0, customers: 0 }
    keys.set(key_id, { key_id, rejections, created, last_at })
  }
  for (const { key_id, kinds, last_at } of [...(refusals?.groups ?? []), ...(refusals?.unsaved ?? [])]) {
    const known = keys.get(key_id) ?? {
      key_id,
      rejections: { events: 0, requests: 0, customers: 0 },
      created: 0,
      last_at,
    }
    known.rejections.requests += kinds.requests
    known.rejections.customers += kinds.customers
    if (last_at > known.last_at) known.last_at = last_at
    keys.set(key_id, known)
  }
  return [...keys.values()]
    .filter(({ rejections }) => rejectionCount(rejections) > 0)
    .sort((a, b) => rejectionCount(b.rejections) - rejectionCount(a.rejections))
}

function RefusedLine({ key_id, rejections, created, last_at }: RejectingKey) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} className="breakable">
        {key_id === null ? 'Other keys' : <KeyName key_id={key_id} />}
      </Table.Th>
      <Table.Td fw={600}>{rejectionText(rejections)}</Table.Td>
      <Table.Td ta="right">{countText(created)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Instant at={last_at} relative />
      </Table.Td>
    </Table.Tr>
  )
}

function KeyName({ key_id }: { key_id: string }) {
  const { workspace_id, canChange } = useMembership()
  const name = useKeyName(key_id)
  if (!canChange) return name
  return (
    <Anchor component={Link} inherit to={`/w/${workspace_id}/events/refused?key_id=${key_id}`}>
      {name}
    </Anchor>
  )
}
