import { Anchor, Group, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ArrowKeys } from '../parts/arrow-keys.tsx'
import { Instant } from '../parts/instant.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { CustomerType } from './customer-type.tsx'

/** A table of customers; on narrow screens type, identifier and time are below the name. */
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
            <Table.Th visibleFrom="sm" w={180}>
              Registered
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {customers.map((customer) => (
            <Table.Tr key={customer.customer_id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Anchor component={Link} to={`/w/${workspace_id}/customers/${customer.customer_id}`}>
                  <bdi>{visibleName(customer.customer_name, customer.customer_id)}</bdi>
                </Anchor>
                <Group hiddenFrom="sm" gap="xs" mt={4} fz="sm">
                  <CustomerType type={customer.customer_type} />
                  <Text span inherit ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                    {customer.client_customer_id}
                  </Text>
                  <Instant at={customer.created_at} relative />
                </Group>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <CustomerType type={customer.customer_type} />
              </Table.Td>
              <Table.Td visibleFrom="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                {customer.client_customer_id}
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Instant at={customer.created_at} relative />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}
