import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { keptSession } from './kept-session.ts'
import { LinkNeeded } from './link-needed.tsx'
import { isNoLink, useFoundLink, useLinkToken } from './link-token.ts'
import { NewPassword, newPasswordFault } from './new-password.tsx'
import { UsedLink } from './used-link.tsx'

/** Resets a forgotten password by a one-time link. */
export function PasswordScreen() {
  const token = useLinkToken()
  const link = useFoundLink('password', token, (token) =>
    taken(cairnFor().findPasswordLink({ body: { token } })),
  )

  if (token === undefined) return <LinkNeeded title="Reset password" />
  if (isNoLink(link.error)) return <NoLink />
  const { data } = link
  if (!data) {
    return (
      <Gate title="Reset password">
        {link.error ? <ProblemAlert error={link.error} onRetry={link.refetch} /> : <Loading lines={3} />}
      </Gate>
    )
  }
  return (
    <Gate
      title="Reset password"
      description={`For the account of ${visibleName(data.name, data.email)}. This ends all other sessions of the account and signs you in here.`}
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
  // A separate mutation: if it fails, the link has already been used.
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
          Set password
        </Button>
      </Stack>
    </form>
  )
}

/**
 * The link was used, expired or was replaced while the form was open. It may have been used by this form, if the response of
 * an earlier attempt was lost.
 */
function Used() {
  return (
    <Text role="alert">
      The link is no longer valid. If you have already set a password with it, also in an attempt that seemed
      to fail,{' '}
      <Anchor component={Link} inherit to="/sign-in">
        sign in
      </Anchor>{' '}
      with that password. Otherwise the password was not changed: ask an owner or admin of the workspace for a
      new link.
    </Text>
  )
}

function NoLink() {
  return (
    <Gate
      title="This link is not valid"
      description="A password reset link works once, expires after an hour, and ends when a new one is created."
    >
      <Text>
        Check that you opened the complete link, or ask an owner or admin of the workspace for a new one.
      </Text>
      <UsedLink />
    </Gate>
  )
}
