import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { shownOnceKey } from '../parts/shown-once-dialog.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import { OneTimeLink } from './one-time-link.tsx'

/** Creates a password reset link for a member and shows it, which cannot be done again. */
export function PasswordLinkDialog({
  member,
  opened,
  onClose,
  onError,
}: {
  member: Schemas['Member']
  opened: boolean
  onClose: () => void
  onError: (error: Error) => void
}) {
  const cairn = useCairn()
  const make = useMutation({
    mutationKey: shownOnceKey,
    mutationFn: () => taken(cairn.createPasswordLink({ path: { person_id: member.person_id } })),
    onError,
  })
  const created = make.data
  const isHeld = make.isPending || make.isSuccess
  const name = visibleName(member.name, member.email)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={make.reset}
      title={created ? `Password reset link for ${member.email}` : `Reset password of ${name}?`}
      // Otherwise the link would be lost.
      closeOnEscape={!isHeld}
      withCloseButton={!isHeld}
    >
      {created ? (
        <OneTimeLink
          label="Password reset link"
          path="/password"
          token={created.token}
          validity={
            <>
              The link works once and expires after an hour, on <Instant at={created.expires_at} />.
            </>
          }
          onDone={onClose}
        >
          Cairn does not send email. Copy the link and send it to {member.email} over a private channel:
          anyone who opens it can sign in as {name}. It cannot be shown again.
        </OneTimeLink>
      ) : (
        <Stack>
          <Text>
            This creates a link with which {name} can set a new password. Using it ends all their sessions.
            Both are recorded in the audit log.
          </Text>
          <ProblemAlert error={make.error} />
          <Group justify="flex-end">
            <Button variant="default" disabled={make.isPending} onClick={onClose}>
              Cancel
            </Button>
            <Button loading={make.isPending} onClick={() => make.mutate()} data-autofocus>
              Create link
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
