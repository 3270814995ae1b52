import { Box } from '@mantine/core'

/**
 * One JSON value, always as text. A string stands as it is; everything else, and a string that could be taken for
 * something else (`"42"`, `"null"`, `""`), in its JSON form in monospace. Long values wrap.
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

/** Whether a reader could not tell the bare text from another JSON value, or would not see its ends. */
function isAmbiguous(text: string): boolean {
  if (text.trim() !== text || text === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
