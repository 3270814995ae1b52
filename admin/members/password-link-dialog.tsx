import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instant.tsx'
import { OneTimeLink } from '../parts/one-time-link.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'

/** Makes a link by which a member gets a new password, and shows it, which nobody can do again. */
export function PasswordLinkDialog({
  member,
  opened,
  onClose,
}: {
  member: Schemas['Member']
  opened: boolean
  onClose: () => void
}) {
  const cairn = useCairn()
  const make = useMutation({
    mutationFn: () => taken(cairn.createPasswordLink({ path: { person_id: member.person_id } })),
  })
  const created = make.data
  const name = visibleName(member.name, member.email)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={make.reset}
      title={created ? `Link for ${member.email}` : `New password for ${name}`}
      // A click beside the dialog would lose the link.
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <OneTimeLink
          label="Link for a new password"
          path="/password"
          token={created.token}
          validity={
            <>
              It works once, for an hour, until <Instant at={created.expires_at} />.
            </>
          }
          onDone={onClose}
        >
          Cairn sends no mail: copy the link and send it to {member.email} yourself, by a way that only they
          read. Whoever opens it can sign in as {name}. It is shown this once.
        </OneTimeLink>
      ) : (
        <Stack>
          <Text>
            You get a link by which {name} sets a new password. When it is used all their sessions end; until
            then nothing changes. The audit log has both.
          </Text>
          <ProblemAlert error={make.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button loading={make.isPending} onClick={() => make.mutate()} data-autofocus>
              Make the link
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
