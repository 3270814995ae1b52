import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { LinkNeeded } from './link-needed.tsx'
import { useFoundLink, useLinkToken } from './link-token.ts'
import { NewPassword, newPasswordFault } from './new-password.tsx'
import { keptSession } from './session.ts'

/** The way back in for somebody who has forgotten the password and was given a link. */
export function PasswordScreen() {
  const token = useLinkToken()
  const link = useFoundLink('password', token, (token) =>
    taken(cairnFor().findPasswordLink({ body: { token } })),
  )

  if (token === undefined) return <LinkNeeded title="New password" />
  if (codeOf(link.error) === 'link_not_found') return <NoLink />
  const { data } = link
  if (!data) {
    return (
      <Gate title="New password">
        {link.error ? <ProblemAlert error={link.error} onRetry={link.refetch} /> : <Loading lines={3} />}
      </Gate>
    )
  }
  return (
    <Gate
      title="New password"
      description={`For the account of ${visibleName(data.name, data.email)}. All its sessions end, and you are signed in here.`}
    >
      <ResetForm token={token} link={data} />
    </Gate>
  )
}

function ResetForm({ token, link }: { token: string; link: Schemas['FoundPasswordLink'] }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const form = useForm({ initialValues: { password: '' }, validate: { password: newPasswordFault } })
  const reset = useMutation({
    mutationFn: ({ password }: typeof form.values) =>
      taken(cairnFor().resetPassword({ body: { token, password } })),
    onSuccess: () => enter.mutate(),
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  // A step of its own: when it fails, the link has been used.
  const enter = useMutation({
    mutationFn: () => keptSession(queryClient),
    onSuccess: () => navigate('/', { replace: true }),
  })
  if (enter.error) return <ProblemAlert error={enter.error} onRetry={enter.mutate} />
  if (codeOf(reset.error) === 'link_not_found') return <Used />
  return (
    <form noValidate onSubmit={form.onSubmit((values) => reset.mutate(values))}>
      <Stack>
        <TextInput label="Email" type="email" autoComplete="username" value={link.email} readOnly />
        <NewPassword label="New password" maxLength={256} {...form.getInputProps('password')} />
        <ProblemAlert error={reset.error} />
        <Button type="submit" loading={reset.isPending || enter.isPending}>
          Set the password
        </Button>
      </Stack>
    </form>
  )
}

/** It ended while the form was open. */
function Used() {
  return (
    <Text role="alert">
      The link does not work any more, and the password is as it was. Ask an owner or an admin of the
      workspace for another one.
    </Text>
  )
}

function NoLink() {
  return (
    <Gate
      title="This link does not work"
      description="A link for a new password works once, for an hour, and only until the next one is made."
    >
      <Text>Ask an owner or an admin of the workspace for another one, and open it whole.</Text>
    </Gate>
  )
}
