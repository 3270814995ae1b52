import { Alert } from '@mantine/core'
import { IconArchive } from '@tabler/icons-react'
import { useMembership } from '../session/session.ts'

/** Says that the workspace in the URL is archived. */
export function ArchivedNotice() {
  const { role } = useMembership()
  return (
    <Alert
      mb="md"
      color="yellow"
      icon={<IconArchive size={18} aria-hidden />}
      title="This workspace is archived"
    >
      It accepts no new customers or events: requests to it are rejected.{' '}
      {role === 'owner' ? 'You can restore it in the workspace menu.' : 'Its owners can restore it.'}
    </Alert>
  )
}
