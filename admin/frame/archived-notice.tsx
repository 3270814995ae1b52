import { Alert } from '@mantine/core'
import { IconArchive } from '@tabler/icons-react'
import { useMembership } from '../session/session.ts'

/** Says that the workspace in the URL, which is archived, takes nothing. */
export function ArchivedNotice() {
  const { role } = useMembership()
  return (
    <Alert
      mb="md"
      color="yellow"
      icon={<IconArchive size={18} aria-hidden />}
      title="This workspace is archived"
    >
      It takes no new customers and events: programs that send to it are refused.{' '}
      {role === 'owner' ? 'The menu of the workspace restores it.' : 'Its owners can restore it.'}
    </Alert>
  )
}
