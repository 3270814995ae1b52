import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { shownOnceKey, useIsCreating } from '../parts/shown-once-dialog.tsx'
import { fieldErrors, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { OneTimeLink } from './one-time-link.tsx'
import { abilityOf, asRole, grantableRoles, roleName } from './role.ts'

/** Creates an invitation, then shows its link, which cannot be shown again. */
export function InvitationDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Schemas['CreatedInvitation']>()
  const isPending = useIsCreating()
  const isHeld = isPending || created !== undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(undefined)}
      title={created ? `Invitation for ${created.email}` : 'Invite member'}
      // Otherwise the link would be lost.
      closeOnEscape={!isHeld}
      withCloseButton={!isHeld}
    >
      {created ? (
        <OneTimeLink
          label="Invitation link"
          path="/invitation"
          token={created.token}
          validity={
            <>
              The link works once and expires after 7 days, on <Instant at={created.expires_at} />.
            </>
          }
          onDone={onClose}
        >
          Cairn does not send email. Copy the link and send it to {created.email} over a private channel. It
          cannot be shown again.
        </OneTimeLink>
      ) : (
        <InvitationForm onCreated={setCreated} onCancel={onClose} />
      )}
    </Modal>
  )
}

function InvitationForm({
  onCreated,
  onCancel,
}: {
  onCreated: (created: Schemas['CreatedInvitation']) => void
  onCancel: () => void
}) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const invitationsKey = useWorkspaceKey('invitations')
  const { role } = useMembership()
  const form = useForm<Schemas['InvitationCreation']>({
    initialValues: { email: '', role: 'viewer' },
    validate: { email: (value) => (value.trim() === '' ? 'Enter an email' : null) },
  })
  const invite = useMutation({
    mutationKey: shownOnceKey,
    mutationFn: ({ email, role }: Schemas['InvitationCreation']) =>
      taken(cairn.createInvitation({ body: { email: email.trim(), role } })),
    onSuccess: (created) => {
      onCreated(created)
      void queryClient.invalidateQueries({ queryKey: invitationsKey })
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <TextInput
          label="Email"
          description="The person signs in with it. Replaces an earlier invitation of the same email."
          type="email"
          autoComplete="off"
          maxLength={254}
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <Select
          label="Role"
          description={`As ${asRole(form.values.role)}, they ${abilityOf[form.values.role]}.`}
          data={grantableRoles(role).map((role) => ({ value: role, label: roleName[role] }))}
          allowDeselect={false}
          required
          {...form.getInputProps('role')}
        />
        <ProblemAlert error={invite.error} />
        <Group justify="flex-end">
          <Button variant="default" disabled={invite.isPending} onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Create invitation link
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
