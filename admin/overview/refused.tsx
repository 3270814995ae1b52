import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { Instant } from '../parts/instant.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { OverviewPart, OverviewTable } from './overview-part.tsx'

const hour_ms = 3_600_000

const columns = [
  { name: 'Key' },
  { name: 'Refused', width: 80, isNumber: true },
  { name: 'Stored', width: 80, isNumber: true },
  { name: 'Last used', width: 180, onlyWide: true },
]

/** What was refused in the last 24 hours, by the key that it was sent with. */
export function Refused() {
  const cairn = useCairn()
  const activity = useQuery({
    queryKey: useWorkspaceKey('activity', 'refused'),
    queryFn: ({ signal }) => {
      const now = Date.now()
      const from = new Date(now - (now % hour_ms) - 23 * hour_ms).toISOString()
      return taken(cairn.getActivity({ query: { by: 'hour', from, group_by: 'key' }, signal }))
    },
    refetchInterval: 15_000,
  })
  const refused = activity.data?.groups.filter(({ rejected }) => rejected > 0) ?? []
  return (
    <OverviewPart title="What was refused" to="events/refused" all="All that was refused" query={activity}>
      {activity.data && (
        <Text size="sm" mb={refused.length > 0 ? 'xs' : 0}>
          {activity.data.total.rejected === 0
            ? 'Nothing in the last 24 hours.'
            : `${countOf(activity.data.total.rejected, 'event')} in the last 24 hours, for a customer or a journey that there is not, or a journey that is archived. The program that sent them was told why.`}
        </Text>
      )}
      {refused.length > 0 && (
        <OverviewTable label="Refused events by key" columns={columns}>
          {refused.map((group) => (
            <RefusedLine key={group.key_id} group={group} />
          ))}
        </OverviewTable>
      )}
    </OverviewPart>
  )
}

function RefusedLine({ group: { key_id, rejected, created, last_at } }: { group: Schemas['ActivityGroup'] }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
        {key_id === null ? 'Another key' : <KeyName key_id={key_id} />}
      </Table.Th>
      <Table.Td ta="right" fw={600}>
        {countText(rejected)}
      </Table.Td>
      <Table.Td ta="right">{countText(created)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Instant at={last_at} />
      </Table.Td>
    </Table.Tr>
  )
}

function KeyName({ key_id }: { key_id: string }) {
  const { workspace_id } = useMembership()
  return (
    <Anchor component={Link} inherit to={`/w/${workspace_id}/events/refused?key_id=${key_id}`}>
      <bdi>{useKeyName(key_id)}</bdi>
    </Anchor>
  )
}
