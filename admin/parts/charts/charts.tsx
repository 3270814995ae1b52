/**
 * The charts and the library that draws them, which is larger than any screen: loaded when the first chart scrolls into view
 * (chart-figure.tsx).
 */
import '@mantine/core/styles/ColorSwatch.css'
import '@mantine/charts/styles.css'
import './charts.css'
import { BarChart, LineChart } from '@mantine/charts'
import { countText, scaleText } from '../number-text.ts'
import { shortText } from '../short-text.ts'
import { isolated } from '../visible-name.ts'
import type { LinePoint, Series } from './chart-series.ts'

const countAxis = { width: 64, allowDecimals: false, tickFormatter: scaleText }
/**
 * Otherwise the point at the right end would be cut in half, and the label of the line at the top would be moved off it, which
 * hides the next one.
 */
const margin = { top: 8, right: 4 }
const shareAxis = { width: 64, domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1] }

/**
 * Lines over time. Points that are not final yet are hollow; gaps without a value are bridged.
 */
export function Lines({
  points,
  series,
  shareText,
}: {
  points: readonly LinePoint[]
  series: readonly Series[]
  /** If the values are shares from 0 to 1: how to format one. */
  shareText?: ((share: number) => string) | undefined
}) {
  return (
    <LineChart
      h="100%"
      data={points.map(({ label, values, open }) => ({ label, open, ...values }))}
      dataKey="label"
      series={series.map(({ name, label, color, dashes }) => ({
        name,
        label: isolated(label),
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
      lineChartProps={{ margin }}
    />
  )
}

/** A bar per class. Long labels are shortened: a label that would overlap another one is not drawn. */
export function Bars({
  bars,
  noun,
  shareText,
}: {
  bars: readonly { label: string; value: number }[]
  noun: string
  /** If the values are shares from 0 to 1: how to format one. */
  shareText?: ((share: number) => string) | undefined
}) {
  return (
    <BarChart
      h="100%"
      data={bars.map(({ label, value }) => ({ label: isolated(label), value }))}
      dataKey="label"
      series={[{ name: 'value', label: noun, color: 'var(--series-1)' }]}
      valueFormatter={shareText ?? countText}
      accessibilityLayer={false}
      tooltipAnimationDuration={0}
      barProps={{ isAnimationActive: false, maxBarSize: 96 }}
      yAxisProps={shareText ? shareAxis : countAxis}
      // Isolated again: a shortened label lacks the end of its isolate.
      xAxisProps={{ minTickGap: 24, tickFormatter: (label) => isolated(shortText(label, 24)) }}
      barChartProps={{ margin }}
    />
  )
}
