import { Box, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { IconZoomOut } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { Now } from '../parts/instants/instant.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { barsOf, countedSlices, type Span, type SpanFilters, spanNow } from './span.ts'

/** The filters that the counters support: not customer or variable. */
type Counted = { journey_id?: string | undefined; event_id?: string | undefined; key_id?: string | undefined }

/** Events by outcome, and rejections that are not counted as events: whole requests, and registrations. */
type Counts = { created: number; duplicate: number; rejected: number; requests: number; customers: number }

type Bar = Counts & { from: Date; to: Date }

type Part = {
  name: keyof Counts
  /** What is counted if it is not events, in the singular. */
  noun?: string
  outcome: string
  color: number
  isShownAtNone?: true
}

/** In stacking order, each with its series color. */
const parts: Part[] = [
  { name: 'created', outcome: 'created', color: 1, isShownAtNone: true },
  { name: 'duplicate', outcome: 'duplicate', color: 2 },
  { name: 'rejected', outcome: 'rejected', color: 5, isShownAtNone: true },
  { name: 'requests', noun: 'request', outcome: 'rejected', color: 4 },
  { name: 'customers', noun: 'registration', outcome: 'rejected', color: 6 },
]

/** A count of a part: `3 created`, `1 request rejected`. */
function countedText({ noun, outcome }: Part, count: number): string {
  return `${noun ? countOf(count, noun) : countText(count)} ${outcome}`
}

/**
 * A histogram of created, duplicate and rejected events and of rejected requests. Clicking a bar zooms into it, dragging over
 * several zooms into these.
 * @param note which filters the counts do not apply
 */
export function Histogram({
  span,
  spans,
  filter,
  note,
}: {
  span: Span
  /** What selects the span. */
  spans: SpanFilters
  filter: Counted
  note: string | undefined
}) {
  const cairn = useCairn()
  const { canChange } = useMembership()
  const {
    data: bars,
    error,
    isPlaceholderData,
  } = useQuery({
    queryKey: useWorkspaceKey('activity', 'histogram', span.query, filter, canChange),
    queryFn: ({ signal }) =>
      readBars(cairn, { span: spanNow(span), filter, seesRefusals: canChange, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  const most = Math.max(1, ...(bars ?? []).map(sizeOf))
  const sum = (of: keyof Counts) => (bars ?? []).reduce((sum, bar) => sum + bar[of], 0)
  const first = bars?.[0]
  const [drawn, setDrawn] = useState<Drawn>()
  function endDrawing() {
    setDrawn(undefined)
    if (!drawn) return
    // A single bar is a click.
    if (drawn.begin.from.getTime() !== drawn.end.from.getTime()) zoomTo(spanOf(drawn))
  }
  function zoomTo({ from, to }: { from: Date; to: Date }) {
    spans.setAll({ last: '', received_from: from.toISOString(), received_to: to.toISOString() })
  }
  return (
    <Box component="section" aria-label="Events over time" aria-busy={isPlaceholderData}>
      <Group justify="space-between" gap="xs" mb={4} fz="xs" mih={22}>
        <Group gap="md">
          {parts
            .filter(({ name, isShownAtNone }) => isShownAtNone || sum(name) > 0)
            .map((part) => (
              <span key={part.name}>
                <span className="swatch" style={{ background: `var(--series-${part.color})` }} />
                {/* Not the counts of another span or filter. */}
                {bars && !isPlaceholderData ? countedText(part, sum(part.name)) : `… ${part.outcome}`}
              </span>
            ))}
          <Text span inherit c="dimmed">
            in {span.text}
            {note && `, ${note}`}
          </Text>
        </Group>
        {span.toMs !== undefined && (
          <Button
            variant="subtle"
            size="compact-xs"
            leftSection={<IconZoomOut size={14} aria-hidden />}
            onClick={() => spans.setAll({ last: '', received_from: '', received_to: '' })}
          >
            Zoom out
          </Button>
        )}
      </Group>
      {error && (
        <Text size="sm" role="alert">
          Events cannot be counted at the moment.
        </Text>
      )}
      <ArrowKeys>
        <div className="histogram" onPointerUp={endDrawing} onPointerCancel={() => setDrawn(undefined)}>
          {bars?.map((bar) => {
            const { from } = bar
            const shown = parts.filter(({ name, isShownAtNone }) => isShownAtNone || bar[name] > 0)
            const texts = shown.map((part) => countedText(part, bar[part.name]))
            const text = `${instantText(from)}: ${texts.join(', ')}`
            return (
              <button
                type="button"
                key={from.getTime()}
                title={text}
                data-drawn={isDrawn(drawn, bar) || undefined}
                onClick={() => zoomTo(bar)}
                onPointerDown={({ currentTarget, pointerId }) => {
                  // Otherwise touch events would stay captured by the first bar.
                  if (currentTarget.hasPointerCapture(pointerId))
                    currentTarget.releasePointerCapture(pointerId)
                  setDrawn({ begin: bar, end: bar })
                }}
                onPointerEnter={({ buttons }) => {
                  setDrawn(drawn && buttons > 0 ? { ...drawn, end: bar } : undefined)
                }}
              >
                <VisuallyHidden>{text}, zoom in</VisuallyHidden>
                {parts.map(
                  ({ name, color }) =>
                    bar[name] > 0 && <PartBar key={name} count={bar[name]} most={most} color={color} />,
                )}
              </button>
            )
          })}
        </div>
      </ArrowKeys>
      <Group justify="space-between" fz="xs" c="dimmed" mt={2}>
        <span>{first && instantText(first.from)}</span>
        {span.toMs === undefined ? <Now /> : <span>{instantText(new Date(span.toMs))}</span>}
      </Group>
    </Box>
  )
}

/** The bars that are being dragged over, from the first to the current one. */
type Drawn = { begin: Bar; end: Bar }

/** For dragging in either direction. */
function spanOf({ begin, end }: Drawn): { from: Date; to: Date } {
  return begin.from < end.from ? { from: begin.from, to: end.to } : { from: end.from, to: begin.to }
}

function isDrawn(drawn: Drawn | undefined, { from }: Bar): boolean {
  if (!drawn) return false
  const span = spanOf(drawn)
  return from >= span.from && from < span.to
}

/** At least 2 px high: one rejected event in a million is exactly what people look for. */
function PartBar({ count, most, color }: { count: number; most: number; color: number }) {
  const height = `max(2px, ${(count / most) * 100}%)`
  return <div style={{ width: '100%', background: `var(--series-${color})`, height, flexShrink: 0 }} />
}

function sizeOf({ created, duplicate, rejected, requests, customers }: Counts): number {
  return created + duplicate + rejected + requests + customers
}

type Reading = { span: Span; filter: Counted; seesRefusals: boolean; signal: AbortSignal }

async function readBars(
  cairn: PersonClient,
  { span, filter, seesRefusals, signal }: Reading,
): Promise<Bar[]> {
  const { by, period_ms, bar_ms, start, count } = barsOf(span)
  const end = start + count * bar_ms
  const now = Date.now()
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value))
  const slices = countedSlices(start, Math.min(end, Math.max(now, start + period_ms)), period_ms)
  const [activity, refused] = await Promise.all([
    Promise.all(
      slices.map(({ from, to }) =>
        taken(cairn.getActivity({ query: { ...given, by, from: at(from), to: at(to) }, signal })),
      ),
    ),
    // Requests that are rejected as a whole are not in the event counters.
    seesRefusals
      ? taken(
          cairn.getRefusalSummary({
            query: { ...given, received_from: at(start), received_to: at(end), periods: count },
            signal,
          }),
        )
      : undefined,
  ])
  const periods = activity.flatMap(({ periods }) => periods)
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * bar_ms
    const inBar = periods.filter(({ starts_at }) => {
      const start = Date.parse(starts_at)
      return start >= from && start < from + bar_ms
    })
    const { requests = 0, customers = 0 } = refused?.period_kinds[index] ?? {}
    return {
      from: new Date(from),
      to: new Date(from + bar_ms),
      ...sumOf(inBar),
      requests,
      customers,
    }
  })
}

function sumOf(periods: readonly Schemas['ActivityPeriod'][]) {
  return periods.reduce(
    (sum, { created, duplicate, rejected }) => ({
      created: sum.created + created,
      duplicate: sum.duplicate + duplicate,
      rejected: sum.rejected + rejected,
    }),
    { created: 0, duplicate: 0, rejected: 0 },
  )
}

function at(ms: number): string {
  return new Date(ms).toISOString()
}
