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
import { givenNameFault, nameLimit } from '../parts/field-faults.ts'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { LinkNeeded } from './link-needed.tsx'
import { useFoundLink, useLinkToken } from './link-token.ts'
import { NewPassword, newPasswordFault } from './new-password.tsx'
import { keptSession, sessionQuery } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** The way in for somebody who was invited: with a new account, or with the one there is. */
export function InvitationScreen() {
  const token = useLinkToken()
  const invitation = useFoundLink('invitation', token, (token) =>
    taken(cairnFor().findInvitation({ body: { token } })),
  )
  const session = useQuery(sessionQuery)

  if (token === undefined) return <LinkNeeded title="Invitation" />
  if (codeOf(invitation.error) === 'link_not_found') return <NoLink />
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
      description={`You will be ${asRole(data.role)}: you ${abilityOf[data.role]}.`}
    >
      <Ways token={token} invitation={data} session={session.data} isKnown={!session.isPending} />
    </Gate>
  )
}

type WayProps = { token: string; invitation: Schemas['FoundInvitation'] }

/** The server does not tell whether the email has an account, so whoever holds the link says so. */
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
        {hasAccount ? 'I have no account yet' : 'I have an account already'}
      </Button>
    </Stack>
  )
}

/** For somebody new. */
function Accept({ token, invitation }: WayProps) {
  const enter = useEnter(invitation)
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: {
      name: (value) => givenNameFault(value, 'Type your name'),
      password: newPasswordFault,
    },
  })
  const accept = useMutation({
    mutationFn: (values: typeof form.values) =>
      taken(cairnFor().acceptInvitation({ body: { token, ...values } })),
    onSuccess: (session) => enter.mutate(session),
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  // The account is made: what is left is to sign in with it.
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
          <Alert color="red" title="No account was made" icon={<IconAlertTriangle aria-hidden />}>
            An account with this email already exists, with another password, or only operators make accounts
            here. Use the password that you have; who has none asks an operator of the server.
          </Alert>
        ) : (
          <ProblemAlert error={accept.error} />
        )}
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
        <Alert color="gray" title={`You are a member of ${visibleName(invitation.workspace_name)} already`}>
          <Button
            variant="default"
            loading={enter.isPending}
            onClick={() => session && enter.mutate(session)}
          >
            Open the workspace
          </Button>
        </Alert>
      ) : (
        <ProblemAlert error={failure} />
      )}
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

/** Opens the workspace of the invitation, once the browser has shown that it keeps the session. */
function useEnter(invitation: Schemas['FoundInvitation']) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { mutate, variables, error, isPending } = useMutation({
    mutationFn: async (before: Schemas['Session']) => {
      await keptSession(queryClient)
      // Names are unique in a store, so this is the one.
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
      title="This invitation does not work"
      description="An invitation works once, for 7 days, and only until the same email is invited again or it is revoked."
    >
      <Text>Ask an owner or an admin of the workspace to invite you again, and open the link whole.</Text>
    </Gate>
  )
}
