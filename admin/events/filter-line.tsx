import './events.css'
import { Button, Group, Popover, SegmentedControl, Stack, Text, VisuallyHidden } from '@mantine/core'
import { IconFilter, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { InstantField } from '../parts/instant-field.tsx'
import { timeZoneText } from '../parts/time-zone.ts'
import { lastSpans, type SpanFilters } from './span.ts'

/** A filter that is set, in words. */
export type Chip = { key: string; name: string; text: ReactNode; onRemove: () => void }

/**
 * The filters of a list in one line: its span, what is set as chips that take it back, and behind a button the fields.
 * @param by what the span is about
 * @param end stands at the end of the line
 */
export function FilterLine({
  label,
  spans,
  by = 'Received',
  chips,
  fields,
  end,
}: {
  label: string
  spans: SpanFilters
  by?: 'Received' | 'Occurred'
  chips: readonly Chip[]
  fields: ReactNode
  end?: ReactNode
}) {
  const [isOwn, setIsOwn] = useState(false)
  const { last, received_from, received_to } = spans.values
  const hasOwn = received_from !== '' || received_to !== ''
  return (
    <Group component="search" aria-label={label} gap="xs" align="center">
      <SegmentedControl
        size="xs"
        aria-label="Span of time"
        data={[...lastSpans.map(({ value, label }) => ({ value, label })), { value: 'own', label: 'Custom' }]}
        value={hasOwn || isOwn ? 'own' : (lastSpans.find(({ value }) => value === last)?.value ?? '')}
        onChange={(value) => {
          setIsOwn(value === 'own')
          if (value !== 'own') spans.setAll({ last: value, received_from: '', received_to: '' })
        }}
      />
      <Popover position="bottom-start" shadow="md" withinPortal={false} trapFocus width="min(24rem, 92vw)">
        <Popover.Target>
          <Button variant="default" size="xs" leftSection={<IconFilter size={14} aria-hidden />}>
            Filter
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={label}>
          <Stack gap="sm">{fields}</Stack>
        </Popover.Dropdown>
      </Popover>
      {(hasOwn || isOwn) && (
        <Popover
          position="bottom-start"
          shadow="md"
          withinPortal={false}
          trapFocus
          defaultOpened={!hasOwn}
          width="min(20rem, 92vw)"
        >
          <Popover.Target>
            <Button variant="light" size="xs">
              {hasOwn ? spanText(received_from, received_to) : 'From … to …'}
            </Button>
          </Popover.Target>
          <Popover.Dropdown aria-label="Own span">
            <Stack gap="sm">
              <InstantField
                label={`${by} from`}
                value={received_from}
                onChange={(value) => spans.set('received_from', value)}
              />
              <InstantField
                label={`${by} before`}
                value={received_to}
                onChange={(value) => spans.set('received_to', value)}
              />
              <Text size="xs">{timeZoneText()}</Text>
            </Stack>
          </Popover.Dropdown>
        </Popover>
      )}
      {chips.map(({ key, name, text, onRemove }) => (
        <button type="button" className="chip" key={key} onClick={onRemove}>
          <span className="chip-name">{name}</span> <bdi className="chip-text">{text}</bdi>
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

function spanText(from: string, to: string): string {
  const text = (at: string) => spanFormat.format(new Date(at))
  if (!to) return `since ${text(from)}`
  return from ? `${text(from)} – ${text(to)}` : `before ${text(to)}`
}

const spanFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
