import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instant.tsx'
import { OneTimeLink } from '../parts/one-time-link.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { fieldErrors, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { abilityOf, asRole, grantableRoles, roleName } from './role.ts'

/** Asks whom to invite, then shows the link of the invitation, which nobody can show again. */
export function InvitationDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Schemas['CreatedInvitation']>()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(undefined)}
      title={created ? `Link for ${created.email}` : 'Invite somebody'}
      // A click beside the dialog would lose the link.
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <OneTimeLink
          label="Link of the invitation"
          path="/invitation"
          token={created.token}
          validity={
            <>
              It works once, for 7 days, until <Instant at={created.expires_at} />.
            </>
          }
          onDone={onClose}
        >
          Cairn sends no mail: copy the link and send it to {created.email} yourself, by a way that only they
          read. It is shown this once.
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
    validate: { email: (value) => (value.trim() === '' ? 'Type the email of the person' : null) },
  })
  const invite = useMutation({
    mutationFn: ({ email, role }: Schemas['InvitationCreation']) =>
      taken(cairn.createInvitation({ body: { email: email.trim(), role } })),
    onSuccess: (created) => {
      onCreated(created)
      return queryClient.invalidateQueries({ queryKey: invitationsKey })
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <TextInput
          label="Email"
          description="The person signs in with it. A former invitation of the same email stops working."
          type="email"
          autoComplete="off"
          maxLength={254}
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <Select
          label="Role"
          description={`As ${asRole(form.values.role)} they ${abilityOf[form.values.role]}.`}
          data={grantableRoles(role).map((role) => ({ value: role, label: roleName[role] }))}
          allowDeselect={false}
          required
          {...form.getInputProps('role')}
        />
        <ProblemAlert error={invite.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Make the link
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
