import { Badge } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'

type Mode = Schemas['DefinitionMode']

/** The modes of a definition, and what each does with events that do not conform to it. */
export const modes: readonly { value: Mode; label: string; color: string; meaning: string }[] = [
  {
    value: 'off',
    label: 'Off',
    color: 'gray',
    meaning: 'Events are not checked. The definition is documentation only.',
  },
  {
    value: 'warn',
    label: 'Warn',
    color: 'yellow',
    meaning: 'Events that do not conform are stored, and the response lists what is wrong with them.',
  },
  {
    value: 'enforce',
    label: 'Enforce',
    color: 'green',
    meaning: 'Events that do not conform are rejected. You can replay them from the Rejected tab.',
  },
]

/** The mode of a definition in a word. */
export function ModeBadge({ mode }: { mode: Mode }) {
  const { label = mode, color = 'gray' } = modes.find(({ value }) => value === mode) ?? {}
  return (
    <Badge variant="dot" color={color} tt="none" miw="max-content">
      {label}
    </Badge>
  )
}
