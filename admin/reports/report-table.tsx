import { Anchor, Box, Group, Table, Text } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { type ReportQuery, searchOf } from './report-filters.ts'

type Step = Schemas['JourneyReportStep']

/** Whether a report begins at a later step than the first: then those who reached that one count as entered. */
export function isLaterPart([first]: readonly Step[]): boolean {
  return first !== undefined && first.step > 1
}

/**
 * The funnel: a row per step, and between two steps the drop-off with a link to those customers. On narrow screens the shares
 * and times are below the name of the step.
 */
export function ReportTable({
  report,
  query,
}: {
  report: Schemas['JourneyReport']
  /** Undefined for those who may not see customers. */
  query: ReportQuery | undefined
}) {
  const { enrolled, steps } = report
  const isLater = isLaterPart(steps)
  return (
    <Table aria-label="Steps" layout="fixed" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Step</Table.Th>
          {/* As wide as a billion. */}
          <Table.Th ta="right" w={130}>
            Customers
          </Table.Th>
          <Table.Th visibleFrom="lg" w="22%" aria-hidden />
          <Table.Th visibleFrom="sm" ta="right" w={95}>
            {isLater ? '% of first' : '% of entered'}
          </Table.Th>
          <Table.Th visibleFrom="sm" ta="right" w={95}>
            % of previous
          </Table.Th>
          <Table.Th visibleFrom="sm" ta="right" w={180}>
            Time since previous step
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {!isLater && <EnteredRow enrolled={enrolled} />}
        {steps.map((step) => (
          <StepRows key={step.event_id} step={step} report={report} query={query} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

/**
 * A cell as wide as the table for each number of visible columns. In a fixed layout, spanning hidden columns would give them
 * a width. By styles alone: paper may be narrower than the window, of which the page is not told.
 */
const wholeRow = [
  { colSpan: 2, hiddenFrom: 'sm' },
  { colSpan: 5, visibleFrom: 'sm', hiddenFrom: 'lg' },
  { colSpan: 6, visibleFrom: 'lg' },
] as const

function EnteredRow({ enrolled }: { enrolled: number }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={600}>
        Entered
        <NarrowBar share={enrolled > 0 ? 1 : 0} />
      </Table.Th>
      <Table.Td ta="right" fw={600}>
        {countText(enrolled)}
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Bar share={enrolled > 0 ? 1 : 0} />
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        {shareText(enrolled > 0 ? 1 : null)}
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        –
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        –
      </Table.Td>
    </Table.Tr>
  )
}

/** The drop-off before a step, and the step. */
function StepRows({
  step,
  report,
  query,
}: {
  step: Step
  report: Schemas['JourneyReport']
  query: ReportQuery | undefined
}) {
  const median = medianText(step)
  const p90 = p90Text(step)
  const isLater = isLaterPart(report.steps)
  const isFirst = step === report.steps[0]
  return (
    <>
      {!(isLater && isFirst) && (
        <Table.Tr>
          {wholeRow.map((cell) => (
            <Table.Td key={cell.colSpan} py={6} {...cell}>
              <Group gap={6} wrap="nowrap" align="flex-start" fz="sm">
                <IconArrowDown size={16} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
                <Text span inherit>
                  <Lost step={step} report={report} query={query} />
                </Text>
              </Group>
            </Table.Td>
          ))}
        </Table.Tr>
      )}
      <Table.Tr>
        <Table.Th scope="row" className="breakable">
          <Text span inherit fw={600}>
            {step.step}. {isolated(step.name)}
          </Text>
          <Text size="xs" ff="monospace" fw={400}>
            {step.event_id}
          </Text>
          <Box hiddenFrom="sm" fz="sm" fw={400} mt={4}>
            {shareText(step.of_enrolled)} of {isLater ? 'first' : 'entered'}, {shareText(step.of_previous)} of
            previous step
            {step.times.median_ms !== null && (
              <>
                <br />
                {median}, {p90}
              </>
            )}
          </Box>
          <NarrowBar share={step.of_enrolled ?? 0} />
        </Table.Th>
        <Table.Td ta="right" fw={600}>
          {countText(step.reached)}
        </Table.Td>
        <Table.Td visibleFrom="lg">
          <Bar share={step.of_enrolled ?? 0} />
        </Table.Td>
        <Table.Td visibleFrom="sm" ta="right">
          {shareText(step.of_enrolled)}
        </Table.Td>
        <Table.Td visibleFrom="sm" ta="right">
          {shareText(step.of_previous)}
        </Table.Td>
        <Table.Td visibleFrom="sm" ta="right">
          {median}
          <Text size="xs">{p90}</Text>
        </Table.Td>
      </Table.Tr>
    </>
  )
}

function Bar({ share }: { share: number }) {
  return share === 0 ? null : <Box className="bar" style={{ width: `${share * 100}%` }} />
}

function NarrowBar({ share }: { share: number }) {
  return (
    <Box hiddenFrom="lg" mt={6}>
      <Bar share={share} />
    </Box>
  )
}

/** How many customers did not continue to a step; with a query, each number links to those customers. */
function Lost({
  step,
  report,
  query,
}: {
  step: Step
  report: Schemas['JourneyReport']
  query: ReportQuery | undefined
}) {
  const before = report.steps[report.steps.indexOf(step) - 1]
  const { not_reached, waiting, dropped } = step
  const here = {
    ...query,
    ...(before && { reached: before.step }),
    not_reached: step.step,
  }
  const link = (count: number, more: { standing?: 'waiting' | 'dropped' } = {}) => {
    const customers = countOf(count, 'customer')
    if (count === 0 || !query) return customers
    return (
      <CustomersLink to={`/journeys/${report.journey_id}/customers${searchOf({ ...here, ...more })}`}>
        {customers}
      </CustomersLink>
    )
  }
  if (not_reached === 0) return 'No drop-off'
  const share = step.of_previous === null ? '' : ` (${shareText(1 - step.of_previous)})`
  if (!before) {
    return (
      <>
        {link(not_reached)}
        {share} {countVerb(not_reached)} not started
      </>
    )
  }
  if (waiting === null || dropped === null) {
    return (
      <>
        {link(not_reached)}
        {share} {countVerb(not_reached)} not continued
      </>
    )
  }
  return (
    <>
      {link(not_reached)}
      {share} {countVerb(not_reached)} not continued: {link(dropped, { standing: 'dropped' })} dropped off,{' '}
      {link(waiting, { standing: 'waiting' })} in progress
    </>
  )
}

function CustomersLink({ to, children }: { to: string; children: string }) {
  const { workspace_id } = useMembership()
  return (
    <Anchor component={Link} inherit to={`/w/${workspace_id}${to}`}>
      {children}
    </Anchor>
  )
}

function medianText({ times: { median_ms } }: Step): string {
  return median_ms === null ? '–' : `median ${durationText(median_ms)}`
}

function p90Text({ reached, times: { n, p90_ms } }: Step): string {
  if (p90_ms === null) return ''
  return `90% within ${durationText(p90_ms)}${n === reached ? '' : ` (of ${countText(n)})`}`
}

function countVerb(count: number): string {
  return count === 1 ? 'has' : 'have'
}
