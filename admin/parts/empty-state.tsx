import { Box, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Shown in place of an empty list: what the list is for, and the next step. */
export function EmptyState({
  title,
  icon,
  action,
  children,
}: {
  title: string
  icon?: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="sm" py="md" ta="center" className="breakable">
        {icon && (
          <Box c="dimmed" aria-hidden>
            {icon}
          </Box>
        )}
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text component="div" c="dimmed" maw="34rem">
          {children}
        </Text>
        {action}
      </Stack>
    </Paper>
  )
}
