import { Anchor, Box, Group, SegmentedControl, Stack } from '@mantine/core'
import { IconSearch, IconUsers } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ExportButton } from '../parts/export/export-button.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { oneOf, text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { FoundStatus } from '../parts/lists/found-status.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { customerMeaning } from '../parts/terms.ts'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { CustomerTable } from './customer-table.tsx'

type CustomerFilter = { search?: string; customer_type?: Schemas['CustomerType'] }

/** The customers of the workspace, newest first, searchable by the words of their names and by their identifiers. */
export function CustomersScreen() {
  const cairn = useCairn()
  const filters = useFilters({ search: text, type: oneOf(['account', 'contact']) })
  const { values } = filters
  // Pasted text often has spaces around it; identifiers rarely do.
  const search = values.search.trim()
  const type = values.type || undefined

  const filter: CustomerFilter = { ...(search && { search }), ...(type && { customer_type: type }) }
  const customers = usePages(
    useWorkspaceKey('customers', 'list', { search, type }),
    (cursor, signal) =>
      taken(
        cairn.listCustomers({
          query: { ...filter, include: 'activity', ...(cursor && { cursor }) },
          signal,
        }),
      ),
    { keepsList: true },
  )
  const { items } = customers

  return (
    <Page
      title="Customers"
      description="Companies (accounts) and people (contacts) that your application has registered. Open one to see its progress and events."
      action={
        <ExportButton
          request={(format, signal) => cairn.exportCustomers({ query: { ...filter, format }, signal })}
        />
      }
    >
      <Stack gap="md">
        <Group gap="sm">
          <Box flex="1 1 18rem">
            <FilterField
              aria-label="Search customers"
              placeholder="Search by name, your identifier or customer_id"
              leftSection={<IconSearch size={16} aria-hidden />}
              value={values.search}
              onChange={(value) => filters.set('search', value)}
            />
          </Box>
          <SegmentedControl
            aria-label="Customer type"
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
        <ProblemAlert error={customers.listError} onRetry={() => void customers.refetch()} />
        {customers.isPending && <Loading lines={8} />}
        {customers.data && (
          <Stack gap="md" aria-busy={customers.isPlaceholderData}>
            {items.length > 0 && <CustomerTable customers={items} />}
            {customers.isEmpty && <NoCustomers search={search} type={type} />}
            <LoadMore query={customers} />
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
        No {type ?? 'customer'} has a name with a word that starts with “{isolated(search)}”, an identifier
        that starts with it, or this customer_id. Identifiers are case-sensitive.
      </EmptyState>
    )
  }
  if (type) {
    return (
      <EmptyState title={type === 'account' ? 'No accounts yet' : 'No contacts yet'} icon={<IconUsers />}>
        {customerMeaning} The customer_type of the initializeCustomer request decides which.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="No customers yet"
      icon={<IconUsers />}
      action={
        <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
          Send your first event
        </Anchor>
      }
    >
      Customers appear here as soon as your application registers them with an initializeCustomer request.
    </EmptyState>
  )
}
