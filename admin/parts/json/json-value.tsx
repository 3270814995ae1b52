import { Box } from '@mantine/core'

/**
 * A JSON value as text. Strings are shown as they are; anything else, and strings that could be mistaken for another value
 * (`"42"`, `"null"`, `""`), as JSON in monospace. Long values wrap.
 */
export function JsonValue({ value }: { value: unknown }) {
  if (typeof value === 'string' && !isAmbiguous(value)) {
    return (
      <Box component="bdi" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {value}
      </Box>
    )
  }
  const isNested = typeof value === 'object' && value !== null
  return (
    <Box
      component={isNested ? 'pre' : 'code'}
      m={0}
      ff="monospace"
      fz="0.925em"
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      {JSON.stringify(value, null, 2)}
    </Box>
  )
}

/** Whether the bare text could be mistaken for another JSON value, or has invisible ends. */
function isAmbiguous(text: string): boolean {
  if (text.trim() !== text || text === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
