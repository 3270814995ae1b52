import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { abilityOf, asRole } from '../members/role.ts'
import { givenNameFault, nameLimit } from '../parts/forms/field-faults.ts'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { keptSession } from './kept-session.ts'
import { LinkNeeded } from './link-needed.tsx'
import { isNoLink, useFoundLink, useLinkToken } from './link-token.ts'
import { NewPassword, newPasswordFault } from './new-password.tsx'
import { sessionQuery } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'
import { UsedLink } from './used-link.tsx'

/** Accepts an invitation, with a new or an existing account. */
export function InvitationScreen() {
  const token = useLinkToken()
  const invitation = useFoundLink('invitation', token, (token) =>
    taken(cairnFor().findInvitation({ body: { token } })),
  )
  const session = useQuery(sessionQuery)

  if (token === undefined) return <LinkNeeded title="Invitation" />
  if (isNoLink(invitation.error)) return <NoLink />
  const { data } = invitation
  if (!data) {
    return (
      <Gate title="Invitation">
        {invitation.error ? (
          <ProblemAlert error={invitation.error} onRetry={invitation.refetch} />
        ) : (
          <Loading lines={3} />
        )}
      </Gate>
    )
  }
  return (
    <Gate
      title={`Join ${visibleName(data.workspace_name)}`}
      description={`As ${asRole(data.role)}, you ${abilityOf[data.role]}.`}
    >
      <Ways token={token} invitation={data} session={session.data} isKnown={!session.isPending} />
    </Gate>
  )
}

type WayProps = { token: string; invitation: Schemas['FoundInvitation'] }

/** The server does not reveal whether the email has an account, so the person chooses. */
function Ways({
  session,
  isKnown,
  ...way
}: WayProps & {
  session: Schemas['Session'] | undefined
  /** Whether it is known if there is a session. */
  isKnown: boolean
}) {
  const [answer, setAnswer] = useState<boolean>()
  const hasAccount = answer ?? session !== undefined
  if (answer === undefined && !isKnown) return <Loading lines={3} />
  return (
    <Stack>
      {hasAccount ? (
        <Join {...way} session={session} onSessionEnd={() => setAnswer(true)} />
      ) : (
        <Accept {...way} />
      )}
      <Button variant="subtle" onClick={() => setAnswer(!hasAccount)}>
        {hasAccount ? 'Create a new account' : 'I already have an account'}
      </Button>
    </Stack>
  )
}

/** For somebody without an account. */
function Accept({ token, invitation }: WayProps) {
  const enter = useEnter(invitation)
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: {
      name: (value) => givenNameFault(value, 'Enter your name'),
      password: newPasswordFault,
    },
  })
  const accept = useMutation({
    mutationFn: (values: typeof form.values) =>
      taken(cairnFor().acceptInvitation({ body: { token, ...values } })),
    onSuccess: (session) => enter.mutate(session),
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  // The account exists: only signing in failed.
  if (enter.error) return <ProblemAlert error={enter.error} onRetry={enter.retry} />
  return (
    <form noValidate onSubmit={form.onSubmit((values) => accept.mutate(values))}>
      <Stack>
        <TextInput
          label="Email"
          description="You will sign in with it."
          type="email"
          autoComplete="username"
          value={invitation.email}
          readOnly
        />
        <TextInput
          label="Your name"
          autoComplete="name"
          maxLength={nameLimit}
          required
          {...form.getInputProps('name')}
        />
        <NewPassword label="Password" maxLength={256} {...form.getInputProps('password')} />
        {codeOf(accept.error) === 'sign_in_refused' ? (
          <Alert color="red" title="The account was not created" icon={<IconAlertTriangle aria-hidden />}>
            An account with this email already exists with another password, or only operators can create
            accounts on this server. Sign in with your existing account, or ask the operator of this server.
          </Alert>
        ) : (
          <ProblemAlert error={accept.error} />
        )}
        {codeOf(accept.error) === 'link_not_found' && <UsedLink />}
        <Button type="submit" loading={accept.isPending || enter.isPending}>
          Create account and join
        </Button>
      </Stack>
    </form>
  )
}

/** For somebody who has an account, signed in or not. */
function Join({
  token,
  invitation,
  session,
  onSessionEnd,
}: WayProps & { session: Schemas['Session'] | undefined; onSessionEnd: () => void }) {
  const queryClient = useQueryClient()
  const enter = useEnter(invitation)
  const join = useMutation({
    mutationFn: () => taken(cairnFor().joinWorkspace({ body: { token } })),
    onSuccess: (joined) => enter.mutate(joined),
    onError: (error) => {
      // The session ended while the page was open: the form to sign in comes back.
      if (codeOf(error) !== 'unauthorized') return
      onSessionEnd()
      queryClient.resetQueries(sessionQuery)
    },
  })
  const email = session?.person.email
  const isInvited = email?.toLowerCase() === invitation.email.toLowerCase()
  const failure = join.error ?? enter.error

  return (
    <Stack>
      {codeOf(failure) === 'already_member' ? (
        <Alert color="gray" title={`You are already a member of ${visibleName(invitation.workspace_name)}`}>
          <Button
            variant="default"
            loading={enter.isPending}
            onClick={() => session && enter.mutate(session)}
          >
            Open workspace
          </Button>
        </Alert>
      ) : (
        <ProblemAlert error={failure} />
      )}
      {codeOf(failure) === 'link_not_found' && <UsedLink />}
      {session && isInvited ? (
        <>
          <Text>
            You are signed in as <strong>{visibleName(session.person.name)}</strong> ({email}).
          </Text>
          <Button loading={join.isPending || enter.isPending} onClick={() => join.mutate()}>
            Join
          </Button>
        </>
      ) : (
        <>
          <Text>
            {email === undefined
              ? 'Sign in to join.'
              : `You are signed in as ${email}, but the invitation is for another account. Sign in with that one to join.`}
          </Text>
          <SignInForm
            email={invitation.email}
            submitLabel="Sign in and join"
            onSignedIn={() => join.mutate()}
          />
        </>
      )}
    </Stack>
  )
}

/** Opens the workspace of the invitation, after checking that the browser stores the session cookie. */
function useEnter(invitation: Schemas['FoundInvitation']) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { mutate, variables, error, isPending } = useMutation({
    mutationFn: async (before: Schemas['Session']) => {
      await keptSession(queryClient)
      // Names of workspaces are unique.
      return before.workspaces.find(({ name }) => name === invitation.workspace_name)
    },
    onSuccess: (workspace) =>
      navigate(workspace ? `/w/${workspace.workspace_id}/journeys` : '/', { replace: true }),
  })
  return { mutate, error, isPending, retry: () => variables && mutate(variables) }
}

function NoLink() {
  return (
    <Gate
      title="This invitation is not valid"
      description="An invitation works once and expires after 7 days. It also ends when it is revoked, or when the same email is invited again."
    >
      <Text>
        Check that you opened the complete link, or ask an owner or admin of the workspace for a new one.
      </Text>
      <UsedLink />
    </Gate>
  )
}
