/**
 * The charts, with the library that draws them, which is larger than any screen: loaded for the first time that one
 * comes into sight (chart-figure.tsx).
 */
import '@mantine/core/styles/ColorSwatch.css'
import '@mantine/charts/styles.css'
import { BarChart, LineChart } from '@mantine/charts'
import type { LinePoint, Series } from './chart-figure.tsx'
import { countText } from './number-text.ts'

const countAxis = { width: 64, allowDecimals: false }
const shareAxis = { width: 64, domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1] }

/**
 * Lines over time. A point of a line that is not settled yet is hollow; where there is nothing to tell, a line goes on from what there
 * was before.
 */
export function Lines({
  points,
  series,
  shareText,
}: {
  points: readonly LinePoint[]
  series: readonly Series[]
  /** Where they are shares, from 0 to 1: how one is written. */
  shareText?: ((share: number) => string) | undefined
}) {
  return (
    <LineChart
      h="100%"
      data={points.map(({ label, values, open }) => ({ label, open, ...values }))}
      dataKey="label"
      series={series.map(({ name, label, color, dashes }) => ({
        name,
        label,
        color,
        strokeDasharray: dashes,
      }))}
      valueFormatter={shareText ?? countText}
      curveType="linear"
      connectNulls
      accessibilityLayer={false}
      tooltipAnimationDuration={0}
      lineProps={({ name, color }) => ({
        isAnimationActive: false,
        dot: ({ key, cx, cy, payload }) => (
          <circle
            key={key}
            cx={cx ?? 0}
            cy={cy ?? 0}
            r={cy === undefined || cy === null ? 0 : 3}
            stroke={String(color)}
            fill={payload.open.includes(name) ? 'var(--mantine-color-body)' : String(color)}
          />
        ),
      })}
      yAxisProps={shareText ? shareAxis : countAxis}
      xAxisProps={{ minTickGap: 24 }}
    />
  )
}

/** How many there are of each class. */
export function Bars({
  bars,
  noun,
  shareText,
}: {
  bars: readonly { label: string; value: number }[]
  noun: string
  /** Where they are shares, from 0 to 1: how one is written. */
  shareText?: ((share: number) => string) | undefined
}) {
  return (
    <BarChart
      h="100%"
      data={bars.map(({ label, value }) => ({ label, value }))}
      dataKey="label"
      series={[{ name: 'value', label: noun, color: 'var(--series-1)' }]}
      valueFormatter={shareText ?? countText}
      accessibilityLayer={false}
      tooltipAnimationDuration={0}
      barProps={{ isAnimationActive: false, maxBarSize: 96 }}
      yAxisProps={shareText ? shareAxis : countAxis}
      xAxisProps={{ minTickGap: 24 }}
    />
  )
}
