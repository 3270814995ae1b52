import { Group } from '@mantine/core'
import type { CSSProperties } from 'react'
import { CopyButton } from './copy-button.tsx'

/**
 * An identifier to read and copy. Where there is no room it is shortened in the middle, because its beginning tells
 * the kind and its end tells it apart. `label` is how the button to copy it calls it, for example `journey_id`.
 */
export function Identifier({ value, label }: { value: string; label: string }) {
  return (
    <Group component="span" display="inline-flex" gap={2} wrap="nowrap" maw="100%" miw={0}>
      <IdentifierText value={value} end={6} />
      <CopyButton value={value} label={`Copy ${label}`} />
    </Group>
  )
}

/**
 * An identifier where many stand below each other: its kind and its last characters, which tell it from its neighbours
 * (identifiers of the same hour begin alike).
 */
export function ShortIdentifier({ value }: { value: string }) {
  const kind = value.slice(0, value.indexOf('_') + 1)
  const room = kind.length + 10
  return value.length > room ? (
    <IdentifierText value={value} end={8} room={kind.length + 10} />
  ) : (
    <IdentifierText value={value} end={8} />
  )
}

/**
 * The whole identifier as one text, so that it is what a double-click, dragging over it or a search in the page finds.
 * It is shortened by its look alone (page.css): where it does not fit, its last characters are drawn again at its end.
 * @param end how many of the last characters are seen
 * @param room how many characters wide it is at the most
 */
function IdentifierText({ value, end, room = value.length }: { value: string; end: number; room?: number }) {
  const style = { '--length': value.length, '--room': room, '--end': end } as CSSProperties
  return (
    <span className="identifier" style={style} title={value}>
      <span data-end={value.slice(-end)}>{value}</span>
    </span>
  )
}
