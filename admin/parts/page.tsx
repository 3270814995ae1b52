import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useContext } from 'react'
import { useParams } from 'react-router'
import { SessionContext } from '../session/session.ts'
import { useArrival } from './arrival.ts'
import { visibleName } from './visible-name.ts'

/**
 * A screen: its heading, which receives focus after navigation, and its description. `title` is also in the browser's tab,
 * before the name of the workspace and after that of the `part`.
 */
export function Page({
  title,
  part,
  description,
  action,
  children,
}: {
  title: string
  /** Which of several screens with this title it is. */
  part?: string | undefined
  description?: ReactNode
  /** The primary action, for example a button that creates something. */
  action?: ReactNode
  children: ReactNode
}) {
  const { workspaceId } = useParams()
  const workspaces = useContext(SessionContext)?.workspaces ?? []
  const workspace = workspaces.find(({ workspace_id }) => workspace_id === workspaceId)
  const heading = useArrival()

  return (
    <Stack gap="lg" maw="72rem">
      <title>
        {[part, title, workspace && visibleName(workspace.name), 'Cairn'].filter(Boolean).join(' · ')}
      </title>
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0} flex="1 1 18rem" className="breakable">
          <Title order={1} size="h2" tabIndex={-1} ref={heading}>
            {title}
          </Title>
          {description && (
            <Text component="div" c="dimmed" mt={4} maw="46rem">
              {description}
            </Text>
          )}
        </Box>
        {action}
      </Group>
      {children}
    </Stack>
  )
}
