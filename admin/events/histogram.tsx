import { Box, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { IconZoomOut } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { ArrowKeys } from '../parts/arrow-keys.tsx'
import { instantText } from '../parts/instant-text.ts'
import { countText } from '../parts/number-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { barsOf, type Span } from './span.ts'

/** What the counters know: neither customers nor variables. */
type Counted = { journey_id?: string | undefined; event_id?: string | undefined; key_id?: string | undefined }

type Bar = { from: Date; to: Date; accepted: number; refused: number }

/**
 * How many events were accepted and refused in each part of the span. A part that is pressed becomes the span, and so do
 * several over which somebody draws.
 * @param note what the counts leave out of account
 */
export function Histogram({
  span,
  filter,
  note,
  onZoom,
  onZoomOut,
}: {
  span: Span
  filter: Counted
  note?: string | undefined
  onZoom: (from: Date, to: Date) => void
  /** Undefined where nothing was zoomed into. */
  onZoomOut?: (() => void) | undefined
}) {
  const cairn = useCairn()
  const { canChange } = useMembership()
  const { data: bars } = useQuery({
    queryKey: useWorkspaceKey('activity', 'histogram', span.query, filter, canChange),
    queryFn: ({ signal }) => readBars(cairn, { span, filter, seesRefusals: canChange, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  const most = Math.max(1, ...(bars ?? []).map(({ accepted, refused }) => accepted + refused))
  const sum = (of: 'accepted' | 'refused') => (bars ?? []).reduce((sum, bar) => sum + bar[of], 0)
  const first = bars?.[0]
  const [drawn, setDrawn] = useState<Drawn>()
  function endDrawing() {
    setDrawn(undefined)
    if (!drawn) return
    const { from, to } = spanOf(drawn)
    // One alone is pressed.
    if (drawn.begin.from.getTime() !== drawn.end.from.getTime()) onZoom(from, to)
  }
  return (
    <Box component="section" aria-label="Events over time">
      <Group justify="space-between" gap="xs" mb={4} fz="xs" mih={22}>
        <Group gap="md">
          <span>
            <span className="swatch" style={{ background: 'var(--series-1)' }} />
            {bars ? countText(sum('accepted')) : '…'} accepted
          </span>
          <span>
            <span className="swatch" style={{ background: 'var(--series-5)' }} />
            {bars ? countText(sum('refused')) : '…'} refused
          </span>
          <Text span inherit c="dimmed">
            in {span.text}
            {note && `, ${note}`}
          </Text>
        </Group>
        {onZoomOut && (
          <Button
            variant="subtle"
            size="compact-xs"
            leftSection={<IconZoomOut size={14} aria-hidden />}
            onClick={onZoomOut}
          >
            Zoom out
          </Button>
        )}
      </Group>
      <ArrowKeys>
        <div className="histogram" onPointerUp={endDrawing} onPointerCancel={() => setDrawn(undefined)}>
          {bars?.map((bar) => {
            const { from, to, accepted, refused } = bar
            const text = `${instantText(from)}: ${countText(accepted)} accepted, ${countText(refused)} refused`
            return (
              <button
                type="button"
                key={from.getTime()}
                title={text}
                data-drawn={isDrawn(drawn, bar) || undefined}
                onClick={() => onZoom(from, to)}
                onPointerDown={({ currentTarget, pointerId }) => {
                  // Else a finger would stay with the part on which it began.
                  if (currentTarget.hasPointerCapture(pointerId))
                    currentTarget.releasePointerCapture(pointerId)
                  setDrawn({ begin: bar, end: bar })
                }}
                onPointerEnter={({ buttons }) => {
                  setDrawn(drawn && buttons > 0 ? { ...drawn, end: bar } : undefined)
                }}
              >
                <VisuallyHidden>{text}, zoom in</VisuallyHidden>
                {accepted > 0 && <Part count={accepted} most={most} className="histogram-accepted" />}
                {refused > 0 && <Part count={refused} most={most} className="histogram-refused" />}
              </button>
            )
          })}
        </div>
      </ArrowKeys>
      <Group justify="space-between" fz="xs" c="dimmed" mt={2}>
        <span>{first && instantText(first.from)}</span>
        <span>{span.toMs === undefined ? 'now' : instantText(new Date(span.toMs))}</span>
      </Group>
    </Box>
  )
}

/** Over what somebody draws, from where it was begun to where it is. */
type Drawn = { begin: Bar; end: Bar }

/** In either direction. */
function spanOf({ begin, end }: Drawn): { from: Date; to: Date } {
  return begin.from < end.from ? { from: begin.from, to: end.to } : { from: end.from, to: begin.to }
}

function isDrawn(drawn: Drawn | undefined, { from }: Bar): boolean {
  if (!drawn) return false
  const span = spanOf(drawn)
  return from >= span.from && from < span.to
}

/** Never so small that it cannot be seen: one refused among a million is what somebody looks for. */
function Part({ count, most, className }: { count: number; most: number; className: string }) {
  return <div className={className} style={{ height: `max(2px, ${(count / most) * 100}%)`, flexShrink: 0 }} />
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
  const [activity, refused] = await Promise.all([
    taken(
      cairn.getActivity({
        query: { ...given, by, from: at(start), to: at(Math.min(end, Math.max(now, start + period_ms))) },
        signal,
      }),
    ),
    // What has the wrong form is in no counter; what is kept has both.
    seesRefusals
      ? taken(
          cairn.getRefusalSummary({
            query: { ...given, received_from: at(start), received_to: at(end), periods: count },
            signal,
          }),
        )
      : undefined,
  ])
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * bar_ms
    const inBar = activity.periods.filter(({ starts_at }) => {
      const start = Date.parse(starts_at)
      return start >= from && start < from + bar_ms
    })
    const { created, rejected } = sumOf(inBar)
    return {
      from: new Date(from),
      to: new Date(from + bar_ms),
      accepted: created,
      // Of a flood not all are kept.
      refused: Math.max(rejected, refused?.counts[index] ?? 0),
    }
  })
}

function sumOf(periods: readonly Schemas['ActivityPeriod'][]) {
  return periods.reduce(
    (sum, { created, duplicate, rejected }) => ({
      created: sum.created + created + duplicate,
      rejected: sum.rejected + rejected,
    }),
    { created: 0, rejected: 0 },
  )
}

function at(ms: number): string {
  return new Date(ms).toISOString()
}
