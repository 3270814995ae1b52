import '@mantine/core/styles/DataList.css'
import { Alert, Button, DataList, Paper, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconCheck } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { cairnFor } from '../cairn.ts'
import { roleName } from '../members/role.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { NewPassword, newPasswordFault } from '../session/new-password.tsx'
import { PasswordField } from '../session/password-field.tsx'
import { openSignIn, sessionQuery, useMembership, useSession } from '../session/session.ts'
import { NameForm } from './name-form.tsx'
import { SessionList, sessionsKey } from './session-list.tsx'

/** The person's own settings, the same in all workspaces: name, password and sessions. */
export function AccountScreen() {
  const { person, expires_at } = useSession()
  const { name, role } = useMembership()
  return (
    <Page title="Account" description="Your account, shared by all your workspaces.">
      <Paper withBorder p="lg">
        <DataList orientation="vertical" className="breakable">
          <DataList.Item>
            <DataList.ItemLabel>Email</DataList.ItemLabel>
            <DataList.ItemValue>{person.email}</DataList.ItemValue>
          </DataList.Item>
          <DataList.Item>
            <DataList.ItemLabel>Role in {visibleName(name)}</DataList.ItemLabel>
            <DataList.ItemValue>{roleName[role]}</DataList.ItemValue>
          </DataList.Item>
        </DataList>
      </Paper>
      <Paper withBorder p="lg">
        <Title order={2} size="h4" mb="md">
          Change name
        </Title>
        <NameForm />
      </Paper>
      <Paper withBorder p="lg">
        <Title order={2} size="h4" mb="md">
          Change password
        </Title>
        <PasswordForm email={person.email} />
      </Paper>
      <Paper withBorder p="lg">
        <Stack align="flex-start">
          <Title order={2} size="h4">
            Sessions
          </Title>
          <Text>
            A session ends 12 hours after its last request, and after 14 days at the latest. Pages that update
            themselves send requests while they are visible. This session expires at the latest{' '}
            <Instant at={expires_at} />. If you do not recognize a session, end it and change your password.
          </Text>
          <SessionList />
          <SignOutEverywhere />
        </Stack>
      </Paper>
    </Page>
  )
}

function PasswordForm({ email }: { email: string }) {
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (value) => (value === '' ? 'Enter your current password' : null),
      new_password: newPasswordFault,
    },
  })
  const change = useMutation({
    mutationFn: (body: typeof form.values) => taken(cairnFor().changePassword({ body })),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      form.reset()
      // The others have ended.
      void queryClient.invalidateQueries({ queryKey: sessionsKey })
    },
    onError: (error) =>
      form.setErrors(
        codeOf(error) === 'password_wrong' ? { current_password: 'Wrong password' } : fieldErrors(error),
      ),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Stack align="stretch" maw="26rem">
        {/* For password managers. */}
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordField
          label="Current password"
          autoComplete="current-password"
          required
          {...form.getInputProps('current_password')}
        />
        <NewPassword label="New password" maxLength={256} {...form.getInputProps('new_password')} />
        {codeOf(change.error) !== 'password_wrong' && <ProblemAlert error={change.error} />}
        <div role="status">
          {change.isSuccess && (
            <Alert color="green" icon={<IconCheck aria-hidden />} title="Password changed">
              Your other sessions have ended. Sign in there with the new password.
            </Alert>
          )}
        </div>
        <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}

function SignOutEverywhere() {
  const [opened, dialog] = useDisclosure()
  const signOut = useMutation({
    mutationFn: () => taken(cairnFor().signOutEverywhere()),
    onSuccess: openSignIn,
  })
  function ask() {
    if (signOut.isError) signOut.reset()
    dialog.open()
  }
  return (
    <>
      <Button variant="default" onClick={ask}>
        Sign out everywhere
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={dialog.close}
        title="Sign out everywhere?"
        confirmLabel="Sign out everywhere"
        onConfirm={() => signOut.mutate()}
        pending={signOut.isPending}
        error={signOut.error}
      >
        This ends all your sessions in every browser and on every device, including this one. Service keys
        keep working.
      </ConfirmDialog>
    </>
  )
}
