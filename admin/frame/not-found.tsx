import { Anchor, Box, Text } from '@mantine/core'
import { useContext } from 'react'
import { Link, useParams } from 'react-router'
import { Page } from '../parts/page.tsx'
import { SessionContext } from '../session/session.ts'
import { Gate } from './gate.tsx'

const title = 'There is no such page'

/** An address that leads nowhere, inside a workspace or outside. */
export function NotFoundScreen() {
  const inside = useContext(SessionContext) !== undefined
  const { workspaceId } = useParams()
  const advice = 'The address may be mistyped, or what it showed may be gone.'
  if (!inside) {
    return (
      <Gate title={title} description={advice}>
        <Anchor component={Link} to="/">
          Go to your workspace
        </Anchor>
      </Gate>
    )
  }
  return (
    <Page title={title}>
      <Box>
        <Text mb="xs">{advice}</Text>
        <Anchor component={Link} to={`/w/${workspaceId}/journeys`}>
          Go to the journeys
        </Anchor>
      </Box>
    </Page>
  )
}
