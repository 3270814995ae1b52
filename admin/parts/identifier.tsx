import { Box, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

const monospace = { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.875em' }

/**
 * An identifier to read and copy. Where there is no room it is shortened in the middle, because its beginning tells
 * the kind and its end tells it apart. `label` is how the button to copy it calls it, for example `journey_id`.
 */
export function Identifier({ value, label }: { value: string; label: string }) {
  const head = value.slice(0, -6)
  const tail = value.slice(-6)
  return (
    <Group component="span" display="inline-flex" gap={2} wrap="nowrap" maw="100%" miw={0}>
      <Box component="span" display="inline-flex" miw={0} style={monospace}>
        <Box
          component="span"
          miw={0}
          style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}
        >
          {head}
        </Box>
        <span>{tail}</span>
      </Box>
      <CopyButton value={value} label={`Copy ${label}`} />
    </Group>
  )
}
