import { Anchor, Group, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { CustomerType } from './customer-type.tsx'

type Activity = Schemas['Customer']['activity']

/** A table of customers with their activity; on narrow screens everything else is below the name. */
export function CustomerTable({ customers }: { customers: readonly Schemas['Customer'][] }) {
  const { workspace_id } = useMembership()
  return (
    <ArrowKeys>
      <Table aria-label="Customers" layout="fixed" verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th visibleFrom="sm" w={110}>
              Type
            </Table.Th>
            <Table.Th visibleFrom="sm">Your identifier</Table.Th>
            <Table.Th visibleFrom="sm" w={140}>
              Last seen
            </Table.Th>
            <Table.Th visibleFrom="sm" w={90} ta="right">
              Events
            </Table.Th>
            <Table.Th visibleFrom="lg" w={150}>
              Registered
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {customers.map((customer) => (
            <Table.Tr key={customer.customer_id}>
              <Table.Td className="breakable">
                <Anchor component={Link} to={`/w/${workspace_id}/customers/${customer.customer_id}`}>
                  {visibleName(customer.customer_name, customer.customer_id)}
                </Anchor>
                <Group hiddenFrom="sm" gap="xs" mt={4} fz="sm">
                  <CustomerType type={customer.customer_type} />
                  <Text span inherit ff="monospace" className="breakable">
                    {customer.client_customer_id}
                  </Text>
                  <LastSeen activity={customer.activity} />
                  <span>{eventsText(customer.activity, 'event')}</span>
                </Group>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <CustomerType type={customer.customer_type} />
              </Table.Td>
              <Table.Td visibleFrom="sm" ff="monospace" className="breakable">
                {customer.client_customer_id}
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <LastSeen activity={customer.activity} />
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right">
                {eventsText(customer.activity)}
              </Table.Td>
              <Table.Td visibleFrom="lg">
                <Instant at={customer.created_at} relative />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function LastSeen({ activity }: { activity: Activity }) {
  return activity?.last_event_at ? <Instant at={activity.last_event_at} relative /> : 'Never'
}

/** `14`, `200+`; with a noun `14 events`, `1 event`. */
function eventsText(activity: Activity, noun?: string): string {
  const { event_count = 0, event_count_is_exact = true } = activity ?? {}
  if (!event_count_is_exact) return `${countText(event_count)}+${noun ? ` ${noun}s` : ''}`
  return noun ? countOf(event_count, noun) : countText(event_count)
}
