import type { Schemas } from '../../client/person.ts'
import { Bars, Lines } from '../parts/charts/chart-figure.tsx'
import { seriesOf } from '../parts/charts/chart-series.ts'
import { shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { isLaterPart } from './report-table.tsx'

/** Customers whose funnel is drawn beside others. */
export type Funnel = { label: string; steps: readonly Schemas['JourneyReportStep'][] }

/** The shares of funnels by step, as lines; as bars if there is only one step. */
export function FunnelLines({ funnels }: { funnels: readonly Funnel[] }) {
  const series = seriesOf(funnels)
  const steps = funnels[0]?.steps ?? []
  if (steps.length === 1) {
    const bars = funnels.map(({ label, steps }) => ({ label, value: steps[0]?.of_enrolled ?? 0 }))
    return (
      <Bars bars={bars} noun={isLaterPart(steps) ? '% of first' : '% of entered'} shareText={shareText} />
    )
  }
  const points = steps.map(({ step, name }, index) => ({
    label: `${step}. ${isolated(name)}`,
    open: [],
    values: Object.fromEntries(
      series.map((line, place) => [line.name, funnels[place]?.steps[index]?.of_enrolled ?? null]),
    ),
  }))
  return <Lines points={points} series={series} shareText={shareText} />
}
