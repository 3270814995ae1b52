import { AppShell, Burger, Divider, Group, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, Navigate, Outlet, useLocation, useParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { asRole, mayChange } from '../members/role.ts'
import { hasUnsaved } from '../parts/forms/unsaved.ts'
import { Loading } from '../parts/loading.tsx'
import { notify, useNotified } from '../parts/notify.ts'
import { onDemand } from '../parts/on-demand.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf } from '../problem.ts'
import { SessionContext, sessionQuery, useMembership, useSessionEnded } from '../session/session.ts'
import { ColorSchemeMenu } from './color-scheme-menu.tsx'
import { Gate } from './gate.tsx'
import { Navigation } from './navigation.tsx'
import { PersonMenu } from './person-menu.tsx'
import { UnreadFilters } from './unread-filters.tsx'
import { WorkspaceSwitch } from './workspace-switch.tsx'

// Not needed for the first view.
const Notifications = onDemand(() =>
  import('../parts/notifications.ts').then((module) => module.Notifications),
)

// Only for wrong addresses.
const ForeignWorkspace = onDemand(() =>
  import('./foreign-workspace.tsx').then((module) => module.ForeignWorkspace),
)

// Rarely needed.
const ArchivedNotice = onDemand(() => import('./archived-notice.tsx').then((module) => module.ArchivedNotice))

// Needed only when a session has ended.
const SignInAgain = onDemand(
  () => import('../session/sign-in-again.tsx').then((module) => module.SignInAgain),
  () => <Loading lines={2} />,
)

/** The frame around every screen of a workspace. Redirects to the sign-in page if nobody is signed in. */
export function Frame() {
  const { workspaceId } = useParams()
  const { pathname, search } = useLocation()
  // All changes: the end of another read is when a role that was put off is followed.
  const { data, error, refetch } = useQuery({ ...sessionQuery, notifyOnChangeProps: 'all' })
  const [shown, setShown] = useState(data)
  // Another role, or none, could take away a form with unsaved changes, so it is followed once there is none.
  const session = shown && data && isInOtherRole(shown, data) ? shown : data
  useEffect(() => {
    if (shown === data || hasUnsaved()) return
    setShown(data)
    const before = roleIn(shown, workspaceId)
    const now = roleIn(data, workspaceId)
    // A dialog goes with what opened it, and with the error in it.
    if (before && now && mayChange(before, now) && before !== now)
      void notify(
        `You are now ${asRole(now)} of this workspace. What your role does not allow was not changed.`,
      )
  })

  if (session) {
    const isMember = session.workspaces.some(({ workspace_id }) => workspace_id === workspaceId)
    return (
      <SessionContext value={session}>
        <SamePerson key={workspaceId} session={session}>
          {isMember ? <Shell /> : <ForeignWorkspace session={session} />}
        </SamePerson>
      </SessionContext>
    )
  }
  if (codeOf(error) === 'unauthorized') {
    return <Navigate to={`/sign-in?to=${encodeURIComponent(pathname + search)}`} replace />
  }
  if (error) {
    return (
      <Gate title="Administration">
        <ProblemAlert error={error} onRetry={refetch} />
      </Gate>
    )
  }
  return (
    <AppShell header={{ height: 56 }} padding="md">
      <AppShell.Header />
      <AppShell.Main>
        <Loading />
      </AppShell.Main>
    </AppShell>
  )
}

function roleIn(session: Schemas['Session'] | undefined, workspaceId: string | undefined) {
  return session?.workspaces.find(({ workspace_id }) => workspace_id === workspaceId)?.role
}

/** Whether the same person has another role in a workspace, or is no longer a member. */
function isInOtherRole(before: Schemas['Session'], now: Schemas['Session']): boolean {
  const roles = new Map(now.workspaces.map(({ workspace_id, role }) => [workspace_id, role]))
  return (
    before.person.person_id === now.person.person_id &&
    before.workspaces.some(({ workspace_id, role }) => roles.get(workspace_id) !== role)
  )
}

/** Binds the page to one person: when the session has ended, asks to sign in again without losing typed text. */
function SamePerson({ session, children }: { session: Schemas['Session']; children: ReactNode }) {
  const ended = useSessionEnded()
  const [person_id] = useState(session.person.person_id)
  const isSame = session.person.person_id === person_id

  useEffect(() => {
    // Somebody else signed in, in another tab, and must not see anything of this page.
    if (!isSame) location.reload()
  }, [isSame])

  if (!isSame) return null
  return (
    <>
      {children}
      <Modal
        opened={ended}
        onClose={() => undefined}
        withCloseButton={false}
        closeOnEscape={false}
        title="Sign in again"
      >
        <SignInAgain email={session.person.email} />
      </Modal>
    </>
  )
}

function Shell() {
  const [navigationOpened, navigation] = useDisclosure()
  const { pathname } = useLocation()
  const isNotified = useNotified()
  const { status } = useMembership()

  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what closes it.
  useEffect(() => navigation.close(), [pathname])

  return (
    <>
      <SkipLink />
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 232, breakpoint: 'md', collapsed: { mobile: !navigationOpened } }}
        padding={{ base: 'md', md: 'xl' }}
        transitionDuration={0}
      >
        {/* Above the navigation (z-index 101), because the header's menus open over it. */}
        <AppShell.Header zIndex={102}>
          <Group h="100%" px="md" gap="sm" wrap="nowrap">
            <Burger
              hiddenFrom="md"
              size="sm"
              opened={navigationOpened}
              onClick={navigation.toggle}
              aria-label="Navigation"
              aria-expanded={navigationOpened}
            />
            <Group gap="xs" wrap="nowrap">
              <img src="/admin/icon.svg" alt="" width={26} height={26} />
              <Text span fw={650} visibleFrom="xs">
                Cairn
              </Text>
            </Group>
            <Divider orientation="vertical" my="md" visibleFrom="xs" />
            <WorkspaceSwitch />
            <Group gap={4} wrap="nowrap" ml="auto">
              <ColorSchemeMenu />
              <PersonMenu />
            </Group>
          </Group>
        </AppShell.Header>
        {/* Not rendered instead of moved off screen: what is invisible must not be focusable. */}
        <AppShell.Navbar aria-label="Workspace" {...(!navigationOpened && { visibleFrom: 'md' })}>
          <Navigation />
        </AppShell.Navbar>
        <AppShell.Main id="main" tabIndex={-1}>
          {status === 'archived' && <ArchivedNotice />}
          <UnreadFilters>
            <Outlet />
          </UnreadFilters>
        </AppShell.Main>
      </AppShell>
      {isNotified && <Notifications position="bottom-right" />}
    </>
  )
}

function SkipLink() {
  return (
    <Link
      className="skip-link"
      to="#main"
      onClick={(event) => {
        // Not a navigation: neither the address nor the history changes.
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}
    >
      Skip to content
    </Link>
  )
}
