import { Box, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { pointerTo } from '../json-pointer.ts'
import { isolated } from '../visible-name.ts'

/** Number of levels that are initially expanded. */
const openLevels = 2

/**
 * A JSON value for engineers: in monospace, with collapsible nesting and a button that copies all of it.
 * @param label label of the copy button
 * @param action rendered after a value of the first level
 * @param note rendered below the value at a JSON Pointer (RFC 6901)
 */
export function JsonTree({
  value,
  label,
  action,
  note,
}: {
  value: unknown
  label: string
  action?: (name: string, value: unknown) => ReactNode
  note?: (pointer: string) => ReactNode
}) {
  return (
    <Box className="json-tree" pos="relative">
      <Box pos="absolute" top={4} right={4}>
        <CopyButton value={JSON.stringify(value, null, 2)} label={label} />
      </Box>
      <Node value={value} level={0} pointer="" action={action} note={note} />
    </Box>
  )
}

function Node({
  name,
  value,
  level,
  pointer,
  action,
  note,
}: {
  name?: string
  value: unknown
  level: number
  pointer: string
  action?: ((name: string, value: unknown) => ReactNode) | undefined
  note?: ((pointer: string) => ReactNode) | undefined
}) {
  const head =
    name === undefined ? null : <span className="json-name">{isolated(JSON.stringify(name))}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <>
        <Group gap={4} wrap="nowrap" align="flex-start">
          <Box miw={0} className="breakable">
            {head}
            <span className={`json-${typeof value}`}>{isolated(JSON.stringify(value))}</span>
          </Box>
          {name !== undefined && level === 1 && action?.(name, value)}
        </Group>
        {note?.(pointer)}
      </>
    )
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const entries = Object.entries(value)
  if (entries.length === 0) {
    return (
      <div>
        {head}
        {open}
        {close}
        {note?.(pointer)}
      </div>
    )
  }
  return (
    <details open={level < openLevels}>
      <summary>
        {head}
        {open}
        <span className="json-folded"> {entries.length} … </span>
        <span className="json-folded">{close}</span>
      </summary>
      {note?.(pointer)}
      <Box pl="md">
        {entries.map(([key, item]) => (
          <Node
            key={key}
            {...(!Array.isArray(value) && { name: key })}
            value={item}
            level={level + 1}
            pointer={pointerTo(pointer, key)}
            action={action}
            note={note}
          />
        ))}
      </Box>
      <div>{close}</div>
    </details>
  )
}
