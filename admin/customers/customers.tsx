import { Anchor, Box, Group, SegmentedControl, Stack } from '@mantine/core'
import { IconSearch, IconUsers } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ExportButton } from '../parts/export-button.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { oneOf, text } from '../parts/filter-readers.ts'
import { useFilters } from '../parts/filters.ts'
import { FoundStatus } from '../parts/found-status.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { customerMeaning } from '../parts/terms.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { CustomerTable } from './customer-table.tsx'

type CustomerFilter = { search?: string; customer_type?: Schemas['CustomerType'] }

/** The customers of the workspace, newest first, searched by words of their names and by their identifiers. */
export function CustomersScreen() {
  const cairn = useCairn()
  const filters = useFilters({ search: text, type: oneOf(['account', 'contact']) })
  const { values } = filters
  // What was pasted often has blanks around it; identifiers hardly ever do.
  const search = values.search.trim()
  const type = values.type || undefined

  const filter: CustomerFilter = { ...(search && { search }), ...(type && { customer_type: type }) }
  const key = useWorkspaceKey('customers', 'list', { search, type })
  const customers = usePages(
    key,
    (cursor, signal) =>
      taken(
        cairn.listCustomers({
          query: { ...filter, ...(cursor && { cursor }) },
          signal,
        }),
      ),
    // The list stays while the next search is on its way, but never into another workspace.
    { keepsList: (earlier) => earlier[0] === key[0] },
  )
  const { items } = customers

  return (
    <Page
      title="Customers"
      description="Everybody your application has registered: companies (accounts) and people (contacts). Open one to see its way through your journeys."
      action={
        <ExportButton
          request={(format, signal) => cairn.exportCustomers({ query: { ...filter, format }, signal })}
        />
      }
    >
      <Stack gap="md">
        <Group align="flex-end" gap="md">
          <Box flex="1 1 18rem">
            <FilterField
              label="Search customers"
              placeholder="Name, your identifier or cus_…"
              leftSection={<IconSearch size={16} aria-hidden />}
              value={values.search}
              onChange={(value) => filters.set('search', value)}
            />
          </Box>
          <SegmentedControl
            aria-label="Type of customer"
            data={[
              { value: '', label: 'All' },
              { value: 'account', label: 'Accounts' },
              { value: 'contact', label: 'Contacts' },
            ]}
            value={type ?? ''}
            onChange={(value) => filters.set('type', value)}
          />
        </Group>

        <FoundStatus query={filters.count > 0 ? customers : undefined} noun="customer" />
        {customers.error && !customers.isFetchNextPageError && (
          <ProblemAlert error={customers.error} onRetry={() => void customers.refetch()} />
        )}
        {customers.isPending && <Loading lines={8} />}
        {customers.data && (
          <Stack
            gap="md"
            aria-busy={customers.isPlaceholderData}
            style={{ opacity: customers.isPlaceholderData ? 0.6 : 1 }}
          >
            {items.length > 0 && <CustomerTable customers={items} />}
            {customers.isEmpty && <NoCustomers search={search} type={type} />}
            {!customers.isPlaceholderData && <LoadMore query={customers} />}
          </Stack>
        )}
      </Stack>
    </Page>
  )
}

function NoCustomers({ search, type }: { search: string; type: Schemas['CustomerType'] | undefined }) {
  const { workspace_id } = useMembership()
  if (search) {
    return (
      <EmptyState title="No customer found" icon={<IconSearch />}>
        No {type ?? 'customer'} has a name with words that begin with “<bdi>{search}</bdi>”, an identifier of
        yours that begins so, or this customer_id. In identifiers, upper and lower case differ.
      </EmptyState>
    )
  }
  if (type) {
    return (
      <EmptyState title={type === 'account' ? 'No accounts yet' : 'No contacts yet'} icon={<IconUsers />}>
        {customerMeaning} The customer_type of its first call says which.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="No customers yet"
      icon={<IconUsers />}
      action={
        <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
          See how to send the first event
        </Anchor>
      }
    >
      A customer appears here with the first initializeCustomer call that your application makes for it.
    </EmptyState>
  )
}
