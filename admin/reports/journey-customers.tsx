import { Anchor, Group, NativeSelect, Stack, Table, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { CustomerType } from '../customers/customer-type.tsx'
import { JourneyPage } from '../journeys/journey-page.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Chip } from '../parts/filters/filter-line.tsx'
import { oneOf, stepNumber } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { NoMatches } from '../parts/filters/no-matches.tsx'
import { stepLimit } from '../parts/forms/field-faults.ts'
import { durationText, lengthOf } from '../parts/instants/duration-text.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { FoundStatus } from '../parts/lists/found-status.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership } from '../session/session.ts'
import { IncompleteNumbers } from './incomplete-numbers.tsx'
import { ReportFilterLine } from './report-filter-line.tsx'
import { type ReportQuery, useReportFilters } from './report-filters.ts'
import { useReport, useReportsKey } from './report-query.ts'
import { reportListReaders, reportReaders } from './report-readers.ts'

/** Customers by their progress in a journey, the newest entry first. Each number of the report links to such a list. */
export function JourneyCustomersScreen() {
  return <JourneyPage path="/customers">{(journey) => <JourneyCustomers journey={journey} />}</JourneyPage>
}

type CustomersQuery = ReportQuery & {
  reached?: number
  not_reached?: number
  out_of_order?: number
  standing?: 'waiting' | 'dropped'
}

const labels = {
  reached: 'reached',
  not_reached: 'not reached',
  out_of_order: 'out of order',
  standing: 'status',
}

const standingNames = { waiting: 'in progress', dropped: 'dropped off' }

type Steps = readonly { step: number; name: string }[]

function JourneyCustomers({ journey }: { journey: Schemas['Journey'] }) {
  const { journey_id } = journey
  const cairn = useCairn()
  const ofReport = useReportFilters(journey.steps.length)
  // Only for the steps that the list refers to: they differ from the journey's while the report is recalculated.
  const report = useReport(journey_id, {})
  const configured = report.error ? journey.steps.map(({ name }, index) => ({ step: index + 1, name })) : []
  const steps: Steps = report.data?.steps ?? configured
  const step = stepNumber(report.data ? steps.length : stepLimit)
  const filters = useFilters(
    {
      ...reportReaders(journey.steps.length),
      reached: step,
      not_reached: step,
      standing: oneOf(['waiting', 'dropped']),
      out_of_order: step,
    },
    reportListReaders,
  )
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
      // Whether the journey has the step is known once the report has loaded.
      enabled: !report.isPending || !(reached || not_reached || out_of_order),
      keepsList: true,
    },
  )
  const stepChoices = steps.map(({ step, name }) => ({ value: String(step), label: `${step}. ${name}` }))
  const chip = (name: keyof typeof labels, text: (value: string) => string): Chip[] => {
    const value = values[name]
    return value ? [{ key: name, name: labels[name], text: text(value), onRemove: () => set(name, '') }] : []
  }
  const stepName = (step: string) => steps[Number(step) - 1]?.name ?? `step ${step}`

  return (
    <>
      <ReportFilterLine
        label="Filter customers"
        steps={journey.steps}
        filters={filters}
        chips={[
          ...chip('reached', stepName),
          ...chip('not_reached', stepName),
          ...chip('out_of_order', stepName),
          ...chip('standing', (value) => standingNames[value as keyof typeof standingNames]),
        ]}
        fields={
          <>
            <NativeSelect
              label="Reached"
              value={values.reached}
              onChange={(change) => set('reached', change.currentTarget.value)}
              data={[{ value: '', label: 'Any or no step' }, ...stepChoices]}
            />
            <NativeSelect
              label="Not reached"
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
              label="Status"
              description={values.standing && !values.window ? 'Requires a conversion window' : undefined}
              inputWrapperOrder={['label', 'input', 'description']}
              value={values.standing}
              onChange={(change) => set('standing', change.currentTarget.value)}
              data={[
                { value: '', label: 'Any' },
                { value: 'waiting', label: 'In progress' },
                { value: 'dropped', label: 'Dropped off' },
              ]}
            />
          </>
        }
      />
      {report.data && <IncompleteNumbers report={report.data} from={ofReport.query.entered_from} />}
      <Text className="breakable">{sentenceOf(values, steps)}</Text>
      <FoundStatus query={customers} noun="customer" />
      <ProblemAlert error={customers.listError} onRetry={() => void customers.refetch()} />
      {!report.data && <ProblemAlert error={report.error} onRetry={() => void report.refetch()} />}
      {(customers.isPending || report.isPending) && <Loading lines={8} />}
      {customers.data && !report.isPending && (
        <Stack gap="md" aria-busy={customers.isPlaceholderData}>
          {customers.items.length > 0 && <CustomersTable customers={customers.items} steps={steps} />}
          {customers.isEmpty && (
            <NoCustomers journey={journey} isFiltered={filters.count > 0} onClear={filters.clear} />
          )}
          <LoadMore query={customers} />
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
            <Table.Td className="breakable">
              <Anchor component={Link} to={`/w/${workspace_id}/customers/${customer.customer_id}`}>
                {visibleName(customer.customer_name, customer.customer_id)}
              </Anchor>
              <Group gap="xs" mt={4} fz="sm">
                <CustomerType type={customer.customer_type} />
                <Text span inherit ff="monospace" className="breakable">
                  {customer.client_customer_id}
                </Text>
              </Group>
              <Stack hiddenFrom="sm" gap={4} mt={4} fz="sm">
                <span>
                  entered <Instant at={customer.entered_at} relative />
                </span>
                <StepsReached customer={customer} steps={steps} />
              </Stack>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Instant at={customer.entered_at} relative />
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

/** The steps that a customer reached, each with its time; below them those completed out of order. */
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
        <Group key={steps[index]?.step ?? at} justify="space-between" gap="0 md" className="breakable">
          <span>
            {index + 1}. {isolated(steps[index]?.name)}
          </span>
          <Instant at={at} />
        </Group>
      ))}
      {out_of_order.map((step) => (
        <span key={step}>Out of order: {isolated(steps[step - 1]?.name ?? `${step}`)}</span>
      ))}
    </Stack>
  )
}

function NoCustomers({
  journey,
  isFiltered,
  onClear,
}: {
  journey: Schemas['Journey']
  isFiltered: boolean
  onClear: () => void
}) {
  const { workspace_id } = useMembership()
  if (isFiltered) {
    return (
      <NoMatches items="customers" onClear={onClear}>
        Change or remove a filter to see more customers.
      </NoMatches>
    )
  }
  const isActive = journey.status === 'active'
  return (
    <EmptyState
      title="No customers have entered this journey yet"
      icon={<IconUsers />}
      action={
        isActive && (
          <Anchor component={Link} to={`/w/${workspace_id}/first-event?journey=${journey.journey_id}`}>
            Send your first event
          </Anchor>
        )
      }
    >
      {isActive
        ? 'Customers enter when your application registers them for this journey.'
        : 'No customers can enter while the journey is archived.'}
    </EmptyState>
  )
}

/** Describes the filtered list in a sentence. */
function sentenceOf(
  values: Readonly<Record<'reached' | 'not_reached' | 'standing' | 'out_of_order' | 'window', string>>,
  steps: Steps,
): string {
  const nameOf = (step: string) => `“${isolated(steps[Number(step) - 1]?.name ?? `step ${step}`)}”`
  const limit_ms = lengthOf(values.window)
  const within = limit_ms ? ` within ${durationText(limit_ms)} of their first step` : ''
  const parts: string[] = []
  if (values.reached) parts.push(`reached ${nameOf(values.reached)}${within}`)
  if (values.not_reached)
    parts.push(`did not reach ${nameOf(values.not_reached)}${values.reached ? '' : within}`)
  if (values.standing === 'waiting') parts.push('are in progress')
  if (values.standing === 'dropped') parts.push('dropped off')
  if (values.out_of_order) parts.push(`completed ${nameOf(values.out_of_order)} without the steps before it`)
  const who =
    parts.length === 0 ? 'All customers of this journey' : `Customers who ${listFormat.format(parts)}`
  return `${who}, newest entry first.`
}

const listFormat = new Intl.ListFormat('en')
