import { Button, Group, Popover, SegmentedControl, Stack, VisuallyHidden } from '@mantine/core'
import { IconFilter, IconX } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, startTransition, useEffect, useRef, useState } from 'react'
import { instantText } from '../instants/instant-text.ts'
import type { CustomRange } from './range-fields.tsx'

// Rarely needed. Opened in a transition, which waits for it instead of showing a placeholder.
const RangeFields = lazy(() =>
  import('./range-fields.tsx').then((module) => ({ default: module.RangeFields })),
)

/** A filter that is set, in words. */
export type Chip = { key: string; name: string; text: ReactNode; onRemove: () => void }

/** The time range of a list: a preset, or a custom range from an instant (inclusive) to another (exclusive). */
type TimeRange = CustomRange & {
  presets: readonly { value: string; label: string }[]
  /** The selected preset, if the range is not custom. */
  preset: string
  /** Selects a preset and clears the custom range. */
  onPreset: (preset: string) => void
}

/**
 * The filters of a list in one line: its time range, a button that opens the fields, and a chip per filter that is set, which
 * removes the filter.
 * @param more shown after the button
 * @param end shown at the end of the line
 */
export function FilterLine({
  label,
  range,
  chips,
  fields,
  more,
  end,
}: {
  label: string
  range: TimeRange
  chips: readonly Chip[]
  fields: ReactNode
  more?: ReactNode
  end?: ReactNode
}) {
  const { presets, preset, from, to, onPreset } = range
  const filterButton = useRef<HTMLButtonElement>(null)
  const [isOpened, setIsOpened] = useState(false)
  const open = (isOpened: boolean) => startTransition(() => setIsOpened(isOpened))
  const isCustom = from !== '' || to !== '' || isOpened
  const control = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isCustom) return
    return () => {
      // The fields of a range disappear, and take the focus with them.
      if (document.activeElement === document.body)
        control.current?.querySelector<HTMLElement>(':checked')?.focus()
    }
  }, [isCustom])
  return (
    <Group component="search" aria-label={label} gap="xs" align="center">
      <SegmentedControl
        size="xs"
        aria-label="Time range"
        data={[...presets, { value: custom, label: 'Custom' }]}
        value={isCustom ? custom : preset}
        ref={control}
        onChange={(value) => {
          open(value === custom)
          if (value !== custom) onPreset(value)
        }}
      />
      <Popover position="bottom-start" shadow="md" withinPortal={false} trapFocus width="min(24rem, 92vw)">
        <Popover.Target>
          <Button
            ref={filterButton}
            variant="default"
            size="xs"
            leftSection={<IconFilter size={14} aria-hidden />}
          >
            Filter
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={label}>
          <Stack gap="sm">{fields}</Stack>
        </Popover.Dropdown>
      </Popover>
      {more}
      {/* Around all of it, so that the transition waits: the popover then focuses the first field. */}
      <Suspense>
        {isCustom && (
          <Popover
            position="bottom-start"
            shadow="md"
            withinPortal={false}
            trapFocus
            opened={isOpened}
            onChange={open}
            width="min(20rem, 92vw)"
          >
            <Popover.Target>
              <Button className="period" variant="light" size="xs" onClick={() => open(!isOpened)}>
                {from || to ? rangeText(from, to) : 'From … to …'}
              </Button>
            </Popover.Target>
            <Popover.Dropdown aria-label="Custom time range">
              <RangeFields range={range} />
            </Popover.Dropdown>
          </Popover>
        )}
      </Suspense>
      {chips.map(({ key, name, text, onRemove }) => (
        <button
          type="button"
          className="chip"
          key={key}
          onClick={() => {
            onRemove()
            // The chip disappears, and would take the focus with it.
            filterButton.current?.focus()
          }}
        >
          <span className="chip-name">{name}</span> <span className="chip-text">{text}</span>
          <VisuallyHidden component="span">, remove filter</VisuallyHidden>
          <IconX size={12} aria-hidden />
        </button>
      ))}
      {end && (
        <Group gap="xs" ml="auto">
          {end}
        </Group>
      )}
    </Group>
  )
}

const custom = 'custom'

/** A range of time, in words. */
export function rangeText(from: string, to: string): string {
  const text = (at: string) => instantText(new Date(at))
  if (!to) return `since ${text(from)}`
  return from ? `${text(from)} – ${text(to)}` : `before ${text(to)}`
}
