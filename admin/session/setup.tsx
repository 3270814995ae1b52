import { Button, Code, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { givenNameFault, nameLimit } from '../parts/forms/field-faults.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { customerMeaning, journeyMeaning } from '../parts/terms.ts'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { keptSession } from './kept-session.ts'
import { LinkNeeded } from './link-needed.tsx'
import { isNoLink, linkKey, useFoundLink, useLinkToken } from './link-token.ts'
import { NewPassword, newPasswordFault } from './new-password.tsx'
import { UsedLink } from './used-link.tsx'

/** The first visit, by the setup link: creates the first account, the workspace and a first journey. */
export function SetupScreen() {
  const token = useLinkToken()
  const link = useFoundLink('setup', token, (token) => taken(cairnFor().findSetupLink({ body: { token } })))

  if (token === undefined) return <LinkNeeded title="Set up Cairn" />
  if (isNoLink(link.error)) return <NoLink />
  if (link.error) {
    return (
      <Gate title="Set up Cairn">
        <ProblemAlert error={link.error} onRetry={link.refetch} />
      </Gate>
    )
  }
  if (!link.data) {
    return (
      <Gate title="Set up Cairn">
        <Loading lines={5} />
      </Gate>
    )
  }
  return <SetupForm token={token} link={link.data} />
}

function SetupForm({ token, link }: { token: string; link: Schemas['SetupLink'] }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { workspace_name } = link
  const form = useForm({
    initialValues: { name: '', email: '', password: '', workspace_name: '', journey_name: '' },
    validate: {
      name: (value) => givenNameFault(value, 'Enter your name'),
      email: (value) => (value.trim() === '' ? 'Enter your email' : null),
      password: newPasswordFault,
      workspace_name: (value) => (workspace_name === null ? givenNameFault(value, 'Enter a name') : null),
      // Optional: without a name no journey is created.
      journey_name: (value) => (value && givenNameFault(value, '')) || null,
    },
  })
  const setUp = useMutation({
    mutationFn: async (values: typeof form.values) => {
      const body = {
        token,
        name: values.name,
        email: values.email.trim(),
        password: values.password,
        ...(workspace_name === null && { workspace_name: values.workspace_name }),
        ...(values.journey_name !== '' && { journey_name: values.journey_name }),
      }
      const [workspace] = (await taken(cairnFor().setUp({ body }))).workspaces
      return { workspace, withJourney: body.journey_name !== undefined }
    },
    onError: async (error) => {
      // A workspace may have been created on the command line meanwhile; then the link is for that one.
      if (codeOf(error) === 'workspace_exists') {
        await queryClient.invalidateQueries({ queryKey: linkKey('setup', token) })
      }
      form.setErrors({
        ...fieldErrors(error),
        ...(codeOf(error) === 'workspace_exists' && {
          workspace_name: 'A workspace with this name already exists',
        }),
        ...(codeOf(error) === 'person_exists' && { email: 'An account with this email already exists' }),
      })
    },
  })
  // A separate mutation: if it fails, the setup must not be repeated.
  const enter = useMutation({
    mutationFn: async ({ workspace, withJourney }: NonNullable<typeof setUp.data>) => {
      await keptSession(queryClient)
      if (!workspace) return '/'
      const cairn = cairnFor(workspace.workspace_id)
      if (!withJourney) return `/w/${workspace.workspace_id}/journeys`
      const { data } = await taken(cairn.listJourneys({ query: { limit: 1 } }))
      return `/w/${workspace.workspace_id}/first-event?journey=${data[0]?.journey_id ?? ''}`
    },
    onSuccess: (to) => navigate(to, { replace: true }),
  })

  if (setUp.data && enter.error) {
    return (
      <Gate title="Cairn is set up" description="Setup succeeded, but the workspace could not be opened.">
        <ProblemAlert error={enter.error} onRetry={() => enter.mutate(setUp.data)} />
      </Gate>
    )
  }
  return (
    <Gate
      title="Set up Cairn"
      description={
        workspace_name === null ? (
          'Create your account, and a workspace for your journeys, customers and events.'
        ) : (
          <>
            Create your account. You will be an owner of the workspace{' '}
            <strong>{visibleName(workspace_name)}</strong>.
          </>
        )
      }
    >
      <form
        noValidate
        onSubmit={form.onSubmit((values) =>
          setUp.mutate(values, { onSuccess: (made) => enter.mutate(made) }),
        )}
      >
        <Stack>
          <TextInput
            label="Your name"
            autoComplete="name"
            maxLength={nameLimit}
            required
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Email"
            description="You sign in with it. Cairn does not send email."
            type="email"
            autoComplete="username"
            maxLength={254}
            required
            {...form.getInputProps('email')}
          />
          <NewPassword label="Password" maxLength={256} {...form.getInputProps('password')} />
          {workspace_name === null && (
            <TextInput
              label="Workspace name"
              description="Usually your company or product."
              autoComplete="organization"
              maxLength={nameLimit}
              required
              {...form.getInputProps('workspace_name')}
            />
          )}
          <TextInput
            label="First journey (optional)"
            autoComplete="off"
            description={`${journeyMeaning} ${customerMeaning} You can add steps and more journeys later.`}
            maxLength={nameLimit}
            {...form.getInputProps('journey_name')}
          />
          <ProblemAlert error={setUp.error} />
          {codeOf(setUp.error) === 'link_not_found' && <UsedLink />}
          <Button type="submit" loading={setUp.isPending || enter.isPending || enter.isSuccess}>
            Set up
          </Button>
          <Text size="sm" c="dimmed">
            This link works once and expires <Instant at={link.expires_at} />.
          </Text>
        </Stack>
      </form>
    </Gate>
  )
}

function NoLink() {
  return (
    <Gate
      title="This setup link is not valid"
      description="A setup link works once, expires after an hour, and ends when a new one is created."
    >
      <Text>Create a new one on the server, in Cairn’s directory, and open the link that it prints:</Text>
      <Code block>npx cairn setup-link</Code>
      <Text size="sm" c="dimmed">
        Open the complete link: the part after # is its token.
      </Text>
      <UsedLink />
    </Gate>
  )
}
