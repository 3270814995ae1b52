import { Box, Button, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useIntersection, useWindowEvent } from '@mantine/hooks'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { onDemand } from '../on-demand.tsx'
import type { Output } from '../output/output.ts'
import { OutputMenu } from '../output/output-menu.tsx'
import type { TextTable } from '../output/table-text.ts'
import { isolated } from '../visible-name.ts'
import type { Series } from './chart-series.ts'

const placeholder = () => <Skeleton h="100%" />
export const Lines = onDemand(() => import('./charts.tsx').then((module) => module.Lines), placeholder)
export const Bars = onDemand(() => import('./charts.tsx').then((module) => module.Bars), placeholder)

/** Whether any chart has been visible since the interface was opened. From then on the library is loaded and all are drawn. */
let wasAnySeen = false
const SEEN = 'chart-seen'

/**
 * A chart, a sentence that describes it, and on request the same numbers as a table. Charts are drawn once one of them has
 * scrolled into view; until then, printing prints the tables. To screen readers a chart is a single image.
 * @param height of the chart in pixels; reserved while it loads
 */
export function ChartFigure({
  sentence,
  columns,
  rows,
  series = [],
  height = 260,
  children,
}: {
  sentence: ReactNode
  /** The columns of the table; the first one is the row header. */
  columns: TextTable['columns']
  rows: TextTable['rows']
  /** For the legend, which is shown for two or more series. */
  series?: readonly Series[]
  height?: number
  children: ReactNode
}) {
  const [isTable, setIsTable] = useState(false)
  const { ref, entry } = useIntersection<HTMLDivElement>()
  const [isDrawn, setIsDrawn] = useState(wasAnySeen)
  const [isPrinted, setIsPrinted] = useState(false)
  const isInSight = entry?.isIntersecting
  useEffect(() => {
    if (!isInSight) return
    wasAnySeen = true
    window.dispatchEvent(new Event(SEEN))
  }, [isInSight])
  useWindowEvent(SEEN, () => setIsDrawn(true))
  // flushSync: the browser prints what is rendered when the event handler returns.
  useWindowEvent('beforeprint', () => flushSync(() => setIsPrinted(true)))
  useWindowEvent('afterprint', () => setIsPrinted(false))
  const sentenceId = useId()
  const figure = useRef<HTMLDivElement>(null)
  function output(): Output {
    const text = document.getElementById(sentenceId)?.textContent ?? ''
    const [name = ''] = text.split(/[.:,]/)
    return { name, sentence: text, table: { columns, rows }, figure: figure.current }
  }

  return (
    <Stack component="figure" m={0} gap="sm" ref={figure}>
      <Group component="figcaption" justify="space-between" align="flex-start" gap="sm">
        <Text size="sm" id={sentenceId} flex="1 1 20rem">
          {sentence}
        </Text>
        <Group gap="xs">
          <OutputMenu output={output} hasImage={isDrawn && !isTable} />
          <Button
            variant="default"
            size="compact-sm"
            aria-pressed={isTable}
            onClick={() => setIsTable(!isTable)}
          >
            Show as table
          </Button>
        </Group>
      </Group>
      {isTable || (isPrinted && !isDrawn) ? (
        <NumberTable columns={columns} rows={rows} labelledBy={sentenceId} isWhole={isPrinted} />
      ) : (
        <>
          {series.length > 1 && <Legend series={series} />}
          {/* A tooltip stays where it was last shown, and would widen the page when the window gets narrower. */}
          <Box ref={ref} h={height} role="img" aria-labelledby={sentenceId} style={{ overflowX: 'clip' }}>
            {isDrawn ? children : null}
          </Box>
        </>
      )}
    </Stack>
  )
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <Group component="ul" gap="md" m={0} p={0} fz="sm" aria-label="Lines" style={{ listStyle: 'none' }}>
      {series.map(({ name, label, color, dashes }) => (
        <Group component="li" key={name} gap={6} wrap="nowrap" miw={0}>
          <svg width={32} height={8} aria-hidden style={{ flexShrink: 0 }}>
            <line x1={0} x2={32} y1={4} y2={4} stroke={color} strokeWidth={2} strokeDasharray={dashes} />
          </svg>
          <span className="breakable">{isolated(label)}</span>
        </Group>
      ))}
    </Group>
  )
}

/** A table that scrolls within its frame if it is wider than the page; focusable, so that the keyboard scrolls it too. */
function NumberTable({
  columns,
  rows,
  labelledBy,
  isWhole,
}: {
  columns: TextTable['columns']
  rows: TextTable['rows']
  labelledBy: string
  /** Shows all of it without scrolling, for printing. */
  isWhole: boolean
}) {
  return (
    <Box
      role="region"
      aria-labelledby={labelledBy}
      tabIndex={0}
      {...(!isWhole && { mah: 420, style: { overflow: 'auto', overscrollBehavior: 'contain' } })}
    >
      <Table aria-labelledby={labelledBy} verticalSpacing={4} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ key, label }, index) => (
              <Table.Th key={key} ta={index === 0 ? 'left' : 'right'} miw={index === 0 ? '8rem' : '5rem'}>
                {isolated(label)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <Table.Th key={column.key} scope="row" fw={400}>
                    {cells[index]}
                  </Table.Th>
                ) : (
                  // Unlike a name, a number is never broken: the table scrolls.
                  <Table.Td key={column.key} ta="right" style={{ overflowWrap: 'normal' }}>
                    {cells[index]}
                  </Table.Td>
                ),
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}
