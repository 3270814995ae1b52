import { Anchor, Button, Group, NativeSelect, Stack, Table, Text } from '@mantine/core'
import { IconFilter, IconUsers } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { CustomerType } from '../customers/customer-type.tsx'
import { JourneyPage } from '../journeys/journey-page.tsx'
import { durationText, lengthOf } from '../parts/duration-text.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { oneOf, stepLimit, stepNumber } from '../parts/filter-readers.ts'
import { useFilters } from '../parts/filters.ts'
import { FoundStatus } from '../parts/found-status.tsx'
import { Instant } from '../parts/instant.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership } from '../session/session.ts'
import { RecomputingAlert } from './recomputing-alert.tsx'
import { ReportFilterFields, type ReportQuery, reportReaders, useReportFilters } from './report-filters.tsx'
import { useReport, useReportsKey } from './report-query.ts'

/** Who stands where in a journey, the newest entry first. Behind each number of the report is such a list. */
export function JourneyCustomersScreen() {
  return <JourneyPage path="/customers">{(journey) => <JourneyCustomers journey={journey} />}</JourneyPage>
}

type CustomersQuery = ReportQuery & {
  reached?: number
  not_reached?: number
  out_of_order?: number
  standing?: 'waiting' | 'dropped'
}

type Steps = readonly { step: number; name: string }[]

function JourneyCustomers({ journey: { journey_id } }: { journey: Schemas['Journey'] }) {
  const cairn = useCairn()
  const ofReport = useReportFilters()
  // The steps that the numbers are of, which the journey's own are not while all is counted anew.
  const report = useReport(journey_id, ofReport.query)
  const steps = report.data?.steps ?? []
  const step = stepNumber(report.data ? steps.length : stepLimit)
  const filters = useFilters({
    ...reportReaders,
    reached: step,
    not_reached: step,
    standing: oneOf(['waiting', 'dropped']),
    out_of_order: step,
  })
  const { values, set } = filters
  const { reached, not_reached, out_of_order, standing } = values
  const query: CustomersQuery = {
    ...ofReport.query,
    ...(reached && { reached: Number(reached) }),
    ...(not_reached && { not_reached: Number(not_reached) }),
    ...(out_of_order && { out_of_order: Number(out_of_order) }),
    ...(standing && { standing }),
  }
  const customers = usePages(
    [...useReportsKey(), journey_id, 'customers', query],
    (cursor, signal) =>
      taken(
        cairn.listJourneyCustomers({
          path: { journey_id },
          query: { ...query, ...(cursor && { cursor }) },
          signal,
        }),
      ),
    {
      // Until the steps are known nobody knows whether the journey has this one.
      enabled: !report.isPending || !(reached || not_reached || out_of_order),
      keepsList: (earlier) => earlier[2] === journey_id,
    },
  )
  const stepChoices = steps.map(({ step, name }) => ({ value: String(step), label: `${step}. ${name}` }))

  return (
    <>
      <FilterBar label="Filter customers" count={filters.count} onClear={filters.clear}>
        <NativeSelect
          label="Has reached"
          value={values.reached}
          onChange={(change) => set('reached', change.currentTarget.value)}
          data={[{ value: '', label: 'Any or no step' }, ...stepChoices]}
        />
        <NativeSelect
          label="Has not reached"
          value={values.not_reached}
          onChange={(change) => set('not_reached', change.currentTarget.value)}
          data={[{ value: '', label: 'Any step' }, ...stepChoices]}
        />
        <NativeSelect
          label="Completed out of order"
          value={values.out_of_order}
          onChange={(change) => set('out_of_order', change.currentTarget.value)}
          data={[{ value: '', label: 'Any or no step' }, ...stepChoices]}
        />
        <NativeSelect
          label="Standing"
          description={values.standing && !values.window ? 'Choose a time limit too' : undefined}
          inputWrapperOrder={['label', 'input', 'description']}
          value={values.standing}
          onChange={(change) => set('standing', change.currentTarget.value)}
          data={[
            { value: '', label: 'Any' },
            { value: 'waiting', label: 'Still has time' },
            { value: 'dropped', label: 'Dropped out' },
          ]}
        />
        <ReportFilterFields filters={filters} />
      </FilterBar>
      {report.data && (
        <RecomputingAlert recomputing={report.data.recomputing} isFirst={report.data.as_of === null} />
      )}
      <Text style={{ overflowWrap: 'anywhere' }}>{sentenceOf(values, steps)}</Text>
      <FoundStatus query={customers} noun="customer" />
      {customers.error && !customers.isFetchNextPageError && (
        <ProblemAlert error={customers.error} onRetry={() => void customers.refetch()} />
      )}
      {!report.data && <ProblemAlert error={report.error} onRetry={() => void report.refetch()} />}
      {(customers.isPending || report.isPending) && <Loading lines={8} />}
      {customers.data && report.data && (
        <Stack
          gap="md"
          aria-busy={customers.isPlaceholderData}
          style={{ opacity: customers.isPlaceholderData ? 0.6 : 1 }}
        >
          {customers.items.length > 0 && <CustomersTable customers={customers.items} steps={steps} />}
          {customers.isEmpty && <Nobody isFiltered={filters.count > 0} onClear={filters.clear} />}
          {!customers.isPlaceholderData && <LoadMore query={customers} />}
        </Stack>
      )}
    </>
  )
}

function CustomersTable({
  customers,
  steps,
}: {
  customers: readonly Schemas['JourneyCustomer'][]
  steps: Steps
}) {
  const { workspace_id } = useMembership()
  return (
    <Table aria-label="Customers in this journey" layout="fixed" verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Customer</Table.Th>
          <Table.Th visibleFrom="sm" w={175}>
            Entered
          </Table.Th>
          <Table.Th visibleFrom="sm" w="45%">
            Steps reached
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {customers.map((customer) => (
          <Table.Tr key={customer.customer_id} style={{ verticalAlign: 'top' }}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor component={Link} to={`/w/${workspace_id}/customers/${customer.customer_id}`}>
                <bdi>{visibleName(customer.customer_name, customer.customer_id)}</bdi>
              </Anchor>
              <Group gap="xs" mt={4} fz="sm">
                <CustomerType type={customer.customer_type} />
                <Text span inherit ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {customer.client_customer_id}
                </Text>
              </Group>
              <Stack hiddenFrom="sm" gap={4} mt={4} fz="sm">
                <span>
                  entered <Instant at={customer.entered_at} />
                </span>
                <StepsReached customer={customer} steps={steps} />
              </Stack>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Instant at={customer.entered_at} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <StepsReached customer={customer} steps={steps} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** The steps that a customer has reached, each with its time; below them those that it did out of order. */
function StepsReached({
  customer: { reached, reached_at, out_of_order },
  steps,
}: {
  customer: Schemas['JourneyCustomer']
  steps: Steps
}) {
  return (
    <Stack gap={4} fz="sm">
      <Text span inherit fw={600}>
        {countText(reached)} of {countText(steps.length)}
      </Text>
      {reached_at.map((at, index) => (
        <Group
          key={steps[index]?.step ?? at}
          justify="space-between"
          gap="0 md"
          style={{ overflowWrap: 'anywhere' }}
        >
          <span>
            {index + 1}. <bdi>{steps[index]?.name}</bdi>
          </span>
          <Instant at={at} />
        </Group>
      ))}
      {out_of_order.map((step) => (
        <span key={step}>
          Out of order: <bdi>{steps[step - 1]?.name ?? step}</bdi>
        </span>
      ))}
    </Stack>
  )
}

function Nobody({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { workspace_id } = useMembership()
  if (isFiltered) {
    return (
      <EmptyState
        title="Nobody stands there"
        icon={<IconFilter />}
        action={
          <Button variant="default" onClick={onClear}>
            Show all customers
          </Button>
        }
      >
        No customer of this journey matches these filters.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="Nobody has entered this journey yet"
      icon={<IconUsers />}
      action={
        <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
          See how to send the first event
        </Anchor>
      }
    >
      A customer enters when your application registers it for this journey.
    </EmptyState>
  )
}

/** Whom the list shows, in words. */
function sentenceOf(
  values: Readonly<Record<'reached' | 'not_reached' | 'standing' | 'out_of_order' | 'window', string>>,
  steps: Steps,
): string {
  const nameOf = (step: string) => `“${steps[Number(step) - 1]?.name ?? `step ${step}`}”`
  const limit_ms = lengthOf(values.window)
  const within = limit_ms ? ` within ${durationText(limit_ms)} of their first step` : ''
  const parts: string[] = []
  if (values.reached) parts.push(`reached ${nameOf(values.reached)}${within}`)
  if (values.not_reached)
    parts.push(`did not reach ${nameOf(values.not_reached)}${values.reached ? '' : within}`)
  if (values.standing === 'waiting') parts.push('still have time')
  if (values.standing === 'dropped') parts.push('dropped out')
  if (values.out_of_order) parts.push(`did ${nameOf(values.out_of_order)} without the steps before it`)
  const who =
    parts.length === 0 ? 'All customers of this journey' : `Customers who ${listFormat.format(parts)}`
  return `${who}, the newest entry first.`
}

const listFormat = new Intl.ListFormat('en')
