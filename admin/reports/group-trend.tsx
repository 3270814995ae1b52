import { Text } from '@mantine/core'
import { ChartFigure, Lines } from '../parts/charts/chart-figure.tsx'
import { limitSeries, seriesOf } from '../parts/charts/chart-series.ts'
import { countText, shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { cellText, cohortText, type Figure, inPeriod, isSettled, measured, wholeOf } from './cohorts.ts'
import { breakdownText, groupLabel } from './group-label.ts'

type GroupFigure = Figure & { breakdown: string }

/** The trend of one step, with a line per group. */
export function GroupTrend(figure: GroupFigure) {
  const { trend, measure, line, breakdown } = figure
  const { cohorts } = trend
  const groups = (trend.groups ?? []).map(({ group, cohorts }) => ({
    label: groupLabel(group, breakdown),
    cohorts,
  }))
  const series = seriesOf(groups)
  const points = cohorts.map((cohort, place) => ({
    label: cohortText(cohort, trend),
    open: isSettled(cohort, line, figure) ? [] : series.map(({ name }) => name),
    values: Object.fromEntries(
      series.map(({ name }, index) => {
        const counts = groups[index]?.cohorts[place]
        return [name, counts ? measured(counts, line, measure) : null]
      }),
    ),
  }))
  return (
    <>
      <ChartFigure
        sentence={sentenceOf(figure)}
        series={series}
        columns={[
          { key: 'period', label: 'Cohort' },
          ...groups.map(({ label }, index) => ({ key: `group_${index}`, label })),
        ]}
        rows={cohorts
          .map((cohort, place) => ({
            key: cohort.starts_at,
            cells: [
              cohortText(cohort, trend),
              ...groups.map(({ cohorts }) => {
                const counts = cohorts[place]
                return counts && counts.enrolled > 0 ? cellText(counts, line, measure) : '–'
              }),
            ],
          }))
          .toReversed()}
      >
        <Lines points={points} series={series} {...(measure !== 'count' && { shareText })} />
      </ChartFigure>
      {groups.length > limitSeries && (
        <Text size="xs" c="dimmed">
          The chart shows the {limitSeries} groups with the most customers, the table all of them.
        </Text>
      )}
    </>
  )
}

/** Describes the chart, with the numbers of the most recent comparable cohort. */
function sentenceOf(figure: GroupFigure): string {
  const { trend, measure, line, breakdown } = figure
  const name = isolated(trend.steps[line - 1]?.name)
  const what = {
    of_enrolled: `Share of customers who reached “${name}”`,
    of_previous: `Conversion from the previous step to “${name}”`,
    count: `Customers who reached “${name}”`,
  }[measure]
  const subject = `${what}, by ${isolated(breakdownText(breakdown))} and by the ${trend.by} they entered.`
  const place = trend.cohorts.findLastIndex(
    (cohort) => cohort.enrolled > 0 && isSettled(cohort, line, figure),
  )
  const cohort = trend.cohorts[place]
  if (!cohort) return `${subject} No cohort is comparable yet.`
  const numbers = (trend.groups ?? []).flatMap(({ group, cohorts }) => {
    const counts = cohorts[place]
    if (!counts || counts.enrolled === 0) return []
    const whole = countText(wholeOf(counts, line, measure))
    return [`${isolated(groupLabel(group, breakdown))} ${cellText(counts, line, measure)} of ${whole}`]
  })
  const when = inPeriod(cohort, trend)
  return `${subject} In the most recent comparable cohort, ${when}: ${numbers.slice(0, limitSeries).join('; ')}.`
}
