import { Stack, Table, Text, Title } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { ChartFigure } from '../parts/charts/chart-figure.tsx'
import { seriesOf } from '../parts/charts/chart-series.ts'
import { countText, shareText } from '../parts/number-text.ts'
import type { TextTable } from '../parts/output/table-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { Difference, differenceText, intervalText } from './difference.tsx'
import { comparisonFinding } from './finding.ts'
import { FunnelLines } from './funnel-lines.tsx'
import { periodText } from './period-text.ts'
import { isLaterPart } from './report-table.tsx'

type Report = Schemas['JourneyReport']
type Comparison = NonNullable<Schemas['JourneyComparison']>
type Step = Schemas['JourneyReportStep']

/** A report beside the numbers of another period. */
export function ReportComparison({
  report,
  comparison,
  hasWindow,
}: {
  report: Report
  comparison: Comparison
  hasWindow: boolean
}) {
  const period = periodText(comparison.entered_from, comparison.entered_to)
  const isOpen = report.steps.some(({ waiting }) => (waiting ?? 0) > 0)
  const funnels = [
    { label: 'This period', steps: report.steps },
    { label: period, steps: comparison.steps },
  ]
  return (
    <Stack component="section" gap="sm" aria-labelledby="comparison-heading">
      <Title order={2} size="h4" id="comparison-heading">
        Compared with {period}
      </Title>
      <ChartFigure
        sentence={comparisonFinding(report)}
        series={seriesOf(funnels)}
        {...comparisonRows(report, comparison, period)}
      >
        <FunnelLines funnels={funnels} />
      </ChartFigure>
      <ComparisonTable report={report} comparison={comparison} />
      <Text size="xs" c="dimmed">
        Points are the difference of the shares; one that 95% confidence cannot distinguish from none is
        within chance.{' '}
        {!hasWindow &&
          'Customers of the later period have had less time to continue: a conversion window that has closed gives both the same.'}
        {isOpen &&
          'Some customers of this period are still in progress and may convert: let it end a window earlier to compare both alike.'}
      </Text>
    </Stack>
  )
}

function ComparisonTable({ report, comparison }: { report: Report; comparison: Comparison }) {
  return (
    <Table aria-label="Both periods" layout="fixed" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Step</Table.Th>
          <Table.Th ta="right" w={{ base: 100, sm: '26%' }}>
            This period
          </Table.Th>
          <Table.Th ta="right" w={{ base: 100, sm: '26%' }}>
            Other period
          </Table.Th>
          <Table.Th visibleFrom="sm" ta="right" w="26%">
            Difference
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {!isLaterPart(report.steps) && (
          <Table.Tr>
            <Table.Th scope="row">Entered</Table.Th>
            <Table.Td ta="right">{countText(report.enrolled)}</Table.Td>
            <Table.Td ta="right">{countText(comparison.enrolled)}</Table.Td>
            <Table.Td visibleFrom="sm" ta="right">
              –
            </Table.Td>
          </Table.Tr>
        )}
        {report.steps.map((step, index) => {
          const difference = comparison.differences[index] ?? null
          return (
            <Table.Tr key={step.step} style={{ verticalAlign: 'top' }}>
              <Table.Th scope="row" className="breakable">
                {step.step}. {isolated(step.name)}
                <Text size="xs" fw={400} hiddenFrom="sm">
                  <Difference difference={difference} />
                </Text>
              </Table.Th>
              <Table.Td ta="right">
                <StepNumbers step={step} />
              </Table.Td>
              <Table.Td ta="right">
                <StepNumbers step={comparison.steps[index]} />
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right">
                <Difference difference={difference} />
                <Text size="xs">95%: {intervalText(difference)}</Text>
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}

function StepNumbers({ step }: { step: Step | undefined }) {
  if (!step) return '–'
  return (
    <>
      <Text span inherit fw={600}>
        {shareText(step.of_enrolled)}
      </Text>
      <Text size="xs">{countText(step.reached)}</Text>
    </>
  )
}

/** Both periods as a table of text: a row per step. */
function comparisonRows({ enrolled, steps }: Report, comparison: Comparison, period: string): TextTable {
  const labels = ['Step', 'This period', 'This period, share', period, `${period}, share`]
  const numbers = (step: Step | undefined) => [
    countText(step?.reached ?? 0),
    shareText(step?.of_enrolled ?? null),
  ]
  const entered = {
    key: 'entered',
    cells: ['Entered', countText(enrolled), '–', countText(comparison.enrolled), '–', '–', '–'],
  }
  return {
    columns: [...labels, 'Difference', '95% interval'].map((label) => ({ key: label, label })),
    rows: [
      ...(isLaterPart(steps) ? [] : [entered]),
      ...steps.map((step, index) => ({
        key: step.event_id,
        cells: [
          `${step.step}. ${step.name}`,
          ...numbers(step),
          ...numbers(comparison.steps[index]),
          differenceText(comparison.differences[index] ?? null),
          intervalText(comparison.differences[index] ?? null),
        ],
      })),
    ],
  }
}
