import { Box, Center, Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useArrival } from '../parts/arrival.ts'

/** A screen outside of a workspace, for example to sign in: a narrow card with a heading. */
export function Gate({
  title,
  description,
  focusesField = false,
  children,
}: {
  title: string
  description?: ReactNode
  /** Whether a field has the initial focus, instead of the heading. */
  focusesField?: boolean
  children?: ReactNode
}) {
  const heading = useArrival(!focusesField)
  return (
    <Center component="main" mih="100dvh" px="md" py="xl">
      <title>{`${title} · Cairn`}</title>
      <Box w="100%" maw="28rem">
        <Group gap="xs" mb="lg" justify="center">
          <img src="/admin/icon.svg" alt="" width={28} height={28} />
          <Text fw={650} fz="xl">
            Cairn
          </Text>
        </Group>
        <Paper withBorder p={{ base: 'md', xs: 'xl' }} radius="lg">
          <Stack>
            <Box>
              <Title order={1} size="h3" tabIndex={-1} ref={heading}>
                {title}
              </Title>
              {description && (
                <Text component="div" c="dimmed" mt={4} className="breakable">
                  {description}
                </Text>
              )}
            </Box>
            {children}
          </Stack>
        </Paper>
      </Box>
    </Center>
  )
}
