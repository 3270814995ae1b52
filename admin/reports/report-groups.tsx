import { Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { ChartFigure } from '../parts/charts/chart-figure.tsx'
import { limitSeries, seriesOf } from '../parts/charts/chart-series.ts'
import { countText, shareText } from '../parts/number-text.ts'
import type { TextTable } from '../parts/output/table-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { differenceText, intervalText } from './difference.tsx'
import { breakdownFinding } from './finding.ts'
import { FunnelLines } from './funnel-lines.tsx'
import { breakdownText, groupKey, groupLabel } from './group-label.ts'
import { GroupTable } from './group-table.tsx'
import { isLaterPart } from './report-table.tsx'

/** The funnel of each group of a breakdown, and how it differs from the others. */
export function ReportGroups({ report, breakdown }: { report: Schemas['JourneyReport']; breakdown: string }) {
  const groups = report.groups ?? []
  const funnels = groups.map(({ group, steps }) => ({ label: groupLabel(group, breakdown), steps }))
  const name = breakdownText(breakdown)
  return (
    <Stack component="section" gap="sm" aria-labelledby="groups-heading">
      <Title order={2} size="h4" id="groups-heading">
        Funnel by {breakdown === 'customer_type' ? name : isolated(name)}
      </Title>
      <ChartFigure
        sentence={breakdownFinding(report, breakdown)}
        series={funnels.length > 1 ? seriesOf(funnels) : []}
        {...groupRows(report, breakdown)}
      >
        <FunnelLines funnels={funnels} />
      </ChartFigure>
      <GroupTable report={report} breakdown={breakdown} />
      <Text size="xs" c="dimmed">
        {funnels.length > limitSeries &&
          `The chart shows the ${limitSeries} groups with the most customers, the table all of them. `}
        Points are the difference from the share of all other customers
        {groups.length > 2 && groups.at(-1)?.group.kind === 'not_set' && ' with a value'}; one that 95%
        confidence cannot distinguish from none is within chance. Each customer is in one group.
      </Text>
    </Stack>
  )
}

/** The groups as a table of text: a row per group. */
function groupRows({ groups, steps }: Schemas['JourneyReport'], breakdown: string): TextTable {
  // Those who reached the first step of a later part are all who count.
  const isLater = isLaterPart(steps)
  const hasComparison = groups?.some(({ comparison }) => comparison)
  return {
    columns: [
      { key: 'group', label: breakdownText(breakdown) },
      ...(isLater ? [] : [{ key: 'enrolled', label: 'Entered' }]),
      ...steps.flatMap(({ step, name }) => [
        { key: `${step}`, label: `${step}. ${name}` },
        { key: `${step} difference`, label: 'Against others' },
        { key: `${step} interval`, label: '95% interval' },
        ...(hasComparison ? [{ key: `${step} compared`, label: 'Compared period' }] : []),
      ]),
    ],
    rows: (groups ?? []).map(({ group, enrolled, steps, differences, comparison }) => ({
      key: groupKey(group),
      cells: [
        groupLabel(group, breakdown),
        ...(isLater ? [] : [countText(enrolled)]),
        ...steps.flatMap((step, index) => [
          numbersText(step),
          differenceText(differences[index] ?? null),
          intervalText(differences[index] ?? null),
          ...(hasComparison ? [numbersText(comparison?.steps[index])] : []),
        ]),
      ],
    })),
  }
}

function numbersText(step: Schemas['JourneyReportStep'] | undefined): string {
  return step ? `${countText(step.reached)} (${shareText(step.of_enrolled)})` : '–'
}
