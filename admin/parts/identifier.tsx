import { Group } from '@mantine/core'
import type { CSSProperties } from 'react'
import { CopyButton } from './copy-button.tsx'

/**
 * An identifier with a copy button. If space is short it is shortened in the middle, because its start shows its kind and its
 * end makes it distinct. `label` names it in the copy button, for example `journey_id`.
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
 * An identifier in a column of many: its kind and its last characters (identifiers created in the same hour start with the
 * same characters).
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
 * The whole identifier as one text node, so that double-click, drag selection and find-in-page get all of it. It is shortened
 * only visually (page.css): if it does not fit, its last characters are drawn again at the end.
 * @param end number of last characters that stay visible
 * @param room maximum width in characters
 */
function IdentifierText({ value, end, room = value.length }: { value: string; end: number; room?: number }) {
  const style = { '--length': value.length, '--room': room, '--end': end } as CSSProperties
  return (
    <span className="identifier" style={style} title={value}>
      <span data-end={value.slice(-end)}>{value}</span>
    </span>
  )
}
