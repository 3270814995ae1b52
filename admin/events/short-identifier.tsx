import { Box } from '@mantine/core'

/**
 * An identifier where many stand below each other: its kind and its last characters, which tell it from its neighbours
 * (identifiers of the same hour begin alike).
 */
export function ShortIdentifier({ value }: { value: string }) {
  const kind = value.slice(0, value.indexOf('_') + 1)
  return (
    <Box component="span" ff="monospace" style={{ whiteSpace: 'nowrap' }} title={value}>
      {value.length > kind.length + 10 ? `${kind}…${value.slice(-8)}` : value}
    </Box>
  )
}
