import { Anchor, Box, Text } from '@mantine/core'
import { useContext } from 'react'
import { Link, useParams } from 'react-router'
import { Page } from '../parts/page.tsx'
import { SessionContext } from '../session/session.ts'
import { Gate } from './gate.tsx'

const title = 'Page not found'

/** An unknown address, inside or outside of a workspace. */
export function NotFoundScreen() {
  const inside = useContext(SessionContext) !== undefined
  const { workspaceId } = useParams()
  const advice = 'Check the address. The page may no longer exist.'
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
          Go to journeys
        </Anchor>
      </Box>
    </Page>
  )
}
