import { Box, Paper, Text } from '@mantine/core'
import { CopyButton } from '../parts/copy-button.tsx'

type CodeBlockProps = {
  /** What the code is, for example "curl commands". */
  label: string
  code: string
}

/** Code to select or copy. Wide code scrolls, also by keyboard. */
export function CodeBlock({ label, code }: CodeBlockProps) {
  return (
    <Paper withBorder>
      <Box
        px="sm"
        py={6}
        style={{
          display: 'flex',
          justifyContent: 'space-between',
          alignItems: 'center',
          borderBottom: '1px solid var(--mantine-color-default-border)',
        }}
      >
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <CopyButton value={code} label={`Copy ${label}`} />
      </Box>
      <Box role="region" aria-label={label} tabIndex={0} style={{ overflowX: 'auto' }}>
        <Box component="pre" m={0} p="sm" fz="sm" style={{ lineHeight: 1.5 }}>
          <code>{code}</code>
        </Box>
      </Box>
    </Paper>
  )
}
