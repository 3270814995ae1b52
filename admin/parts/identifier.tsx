import { Group } from '@mantine/core'
import type { CSSProperties } from 'react'
import { CopyButton } from './copy-button.tsx'

/** Number of last characters that stay visible. */
const END = 6

/**
 * An identifier with a copy button. If space is short it is shortened in the middle, because its start shows its kind and its
 * end makes it distinct. `label` names it in the copy button, for example `journey_id`.
 */
export function Identifier({ value, label }: { value: string; label: string }) {
  return (
    <Group component="span" display="inline-flex" gap={2} wrap="nowrap" maw="100%" miw={0}>
      <IdentifierText value={value} />
      <CopyButton value={value} label={`Copy ${label}`} />
    </Group>
  )
}

/**
 * The whole identifier as one text node, so that double-click, drag selection and find-in-page get all of it. It is shortened
 * only visually (page.css): if it does not fit, its last characters are drawn again at the end.
 */
function IdentifierText({ value }: { value: string }) {
  const style = { '--length': value.length, '--end': END } as CSSProperties
  return (
    <span className="identifier" style={style} title={value}>
      <span data-end={value.slice(-END)}>{value}</span>
    </span>
  )
}
