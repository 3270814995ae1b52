import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import {
  createBrowserRouter,
  Navigate,
  Outlet,
  RouterProvider,
  ScrollRestoration,
  useLocation,
} from 'react-router'
import { RouteFailure } from './frame/route-failure.tsx'
import { queryClient } from './query-client.ts'
import { cssVariablesResolver, theme } from './theme.ts'

const router = createBrowserRouter(
  [
    {
      Component: Root,
      ErrorBoundary: RouteFailure,
      HydrateFallback: () => null,
      children: [
        { index: true, lazy: screen(() => import('./frame/home.tsx').then((m) => m.HomeScreen)) },
        { path: 'setup', lazy: screen(() => import('./session/setup.tsx').then((m) => m.SetupScreen)) },
        {
          path: 'invitation',
          lazy: screen(() => import('./session/invitation.tsx').then((m) => m.InvitationScreen)),
        },
        {
          path: 'password',
          lazy: screen(() => import('./session/password.tsx').then((m) => m.PasswordScreen)),
        },
        { path: 'shared', lazy: screen(() => import('./views/shared.tsx').then((m) => m.SharedScreen)) },
        { path: 'sign-in', lazy: screen(() => import('./session/sign-in.tsx').then((m) => m.SignInScreen)) },
        {
          path: 'w/:workspaceId',
          lazy: screen(() => import('./frame/frame.tsx').then((m) => m.Frame)),
          children: [
            {
              // A separate error boundary keeps the frame around a screen that fails.
              ErrorBoundary: RouteFailure,
              children: [
                { index: true, element: <Navigate to="overview" replace /> },
                {
                  path: 'overview',
                  lazy: screen(() => import('./overview/overview.tsx').then((m) => m.OverviewScreen)),
                },
                {
                  path: 'journeys',
                  lazy: screen(() => import('./journeys/journeys.tsx').then((m) => m.JourneysScreen)),
                },
                {
                  path: 'journeys/:journeyId',
                  lazy: screen(() => import('./reports/journey-report.tsx').then((m) => m.JourneyScreen)),
                },
                {
                  path: 'journeys/:journeyId/customers',
                  lazy: screen(() =>
                    import('./reports/journey-customers.tsx').then((m) => m.JourneyCustomersScreen),
                  ),
                },
                {
                  path: 'journeys/:journeyId/settings',
                  lazy: screen(() =>
                    import('./journeys/journey-settings.tsx').then((m) => m.JourneySettingsScreen),
                  ),
                },
                {
                  path: 'views/:viewId',
                  lazy: screen(() => import('./views/view.tsx').then((m) => m.ViewScreen)),
                },
                {
                  path: 'keys',
                  lazy: screen(() => import('./keys/keys.tsx').then((m) => m.KeysScreen)),
                },
                {
                  path: 'webhooks',
                  lazy: screen(() => import('./webhooks/webhooks.tsx').then((m) => m.WebhooksScreen)),
                },
                {
                  path: 'webhooks/new',
                  lazy: screen(() => import('./webhooks/new-webhook.tsx').then((m) => m.NewWebhookScreen)),
                },
                {
                  path: 'webhooks/:webhookId',
                  lazy: screen(() => import('./webhooks/webhook.tsx').then((m) => m.WebhookScreen)),
                },
                {
                  path: 'first-event',
                  lazy: screen(() => import('./first-event/first-event.tsx').then((m) => m.FirstEventScreen)),
                },
                {
                  path: 'customers',
                  lazy: screen(() => import('./customers/customers.tsx').then((m) => m.CustomersScreen)),
                },
                {
                  path: 'customers/:customerId',
                  lazy: screen(() => import('./customers/customer.tsx').then((m) => m.CustomerScreen)),
                },
                {
                  path: 'events',
                  lazy: screen(() => import('./events/events.tsx').then((m) => m.EventsScreen)),
                },
                {
                  path: 'events/refused',
                  lazy: screen(() => import('./events/refused/refused.tsx').then((m) => m.RefusedScreen)),
                },
                {
                  path: 'events/definitions',
                  lazy: screen(() =>
                    import('./definitions/definitions.tsx').then((m) => m.DefinitionsScreen),
                  ),
                },
                {
                  path: 'events/definitions/new',
                  lazy: screen(() =>
                    import('./definitions/new-definition.tsx').then((m) => m.NewDefinitionScreen),
                  ),
                },
                {
                  path: 'events/definitions/:definitionId',
                  lazy: screen(() => import('./definitions/definition.tsx').then((m) => m.DefinitionScreen)),
                },
                {
                  path: 'members',
                  lazy: screen(() => import('./members/members.tsx').then((m) => m.MembersScreen)),
                },
                {
                  path: 'audit-log',
                  lazy: screen(() => import('./audit-log/audit-log.tsx').then((m) => m.AuditLogScreen)),
                },
                {
                  path: 'account',
                  lazy: screen(() => import('./account/account.tsx').then((m) => m.AccountScreen)),
                },
                {
                  path: '*',
                  lazy: screen(() => import('./frame/not-found.tsx').then((m) => m.NotFoundScreen)),
                },
              ],
            },
          ],
        },
        { path: '*', lazy: screen(() => import('./frame/not-found.tsx').then((m) => m.NotFoundScreen)) },
      ],
    },
  ],
  { basename: '/admin' },
)

/** The administration interface. */
export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      // Includes the variables of Mantine's default theme; their style sheet would add 4 kB.
      deduplicateCssVariables={false}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

function Root() {
  const { hash } = useLocation()
  return (
    <>
      <Outlet />
      {/* Keyed by path, so that a change of the query string (a filter, for example) keeps the scroll position. Not with the
          token of a link, which names no element and warns if it cannot be decoded: `#token=%zz`. */}
      {!hash.startsWith('#token=') && <ScrollRestoration getKey={({ pathname }) => pathname} />}
    </>
  )
}

/** A route's `lazy`: the previous page stays until the screen's code has loaded. */
function screen(load: () => Promise<ComponentType>) {
  return async () => ({ Component: await load() })
}
