import '@mantine/core/styles/Tabs.css'
import '../parts/tabs.css'
import './first-event.css'
import { Anchor, Box, Button, Code, Stack, Tabs, Text, Title } from '@mantine/core'
import { IconRoute } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { journeyChoice, useJourneyChoices } from '../journeys/journey-choices.ts'
import { NewJourneyDialog } from '../journeys/new-journey-dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { SearchedSelect } from '../parts/forms/searched-select.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { useWorkspace } from '../session/workspace.ts'
import { CodeBlock } from './code-block.tsx'
import { EventWatch } from './event-watch.tsx'
import { browserModule, curlCommands, serverModule } from './first-event-code.ts'
import { KeyChoice, useKeyForCode } from './key-choice.tsx'

/** How to send a first event, with real values filled in, and the event once it is received. */
export function FirstEventScreen() {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const filters = useFilters({ journey: text })
  const choices = useJourneyChoices('active')
  const [isCreating, setIsCreating] = useState(false)
  const wanted = filters.values.journey
  // The journey in the address, otherwise the newest active one; null if there is none.
  const journey = useQuery({
    queryKey: useWorkspaceKey('journeys', 'of-first-event', wanted),
    queryFn: async ({ signal }) => {
      if (wanted) return taken(cairn.getJourney({ path: { journey_id: wanted }, signal }))
      const { data } = await taken(cairn.listJourneys({ query: { status: 'active', limit: 1 }, signal }))
      return data[0] ?? null
    },
  })
  const { data: current, error } = journey
  const isUnknown = codeOf(error) === 'journey_not_found'

  return (
    <Page
      title="Send your first event"
      description="Run this code where your program will run, and watch the event arrive."
    >
      {journey.isPending && <Loading lines={8} />}
      {error && !isUnknown && <ProblemAlert error={error} onRetry={() => journey.refetch()} />}
      {current === null && (
        <EmptyState
          title="No active journey yet"
          icon={<IconRoute />}
          action={canChange && <Button onClick={() => setIsCreating(true)}>Create journey</Button>}
        >
          {canChange
            ? 'Every event belongs to a journey. Create one first, for example Onboarding.'
            : 'Every event belongs to a journey. An owner or admin of the workspace can create one.'}
        </EmptyState>
      )}
      {(current || isUnknown) && (
        <Box className="beside">
          <Stack gap="md" miw={0}>
            <SearchedSelect
              label="Journey"
              placeholder="Select a journey"
              source={choices}
              value={current?.status === 'active' ? current.journey_id : ''}
              known={current ? journeyChoice(current) : undefined}
              onChange={(journey_id) => filters.set('journey', journey_id)}
              allowDeselect={false}
              nothingFoundMessage="No active journey with this name"
              maw={400}
            />
            {current?.status === 'active' ? (
              // Keyed by workspace: its keys must not be shown in another one.
              <CodeTabs key={workspace_id} journey_id={current.journey_id} />
            ) : (
              <Text>
                The journey in the address is archived or not in this workspace. Select another one, or
                restore it under{' '}
                <Anchor component={Link} to={`/w/${workspace_id}/journeys?status=archived`}>
                  Journeys
                </Anchor>
                .
              </Text>
            )}
          </Stack>
          {current?.status === 'active' && (
            <section aria-labelledby="arrival-heading">
              <Title order={2} size="h4" id="arrival-heading" mb="sm">
                Live events
              </Title>
              <EventWatch key={current.journey_id} journey={current} />
            </section>
          )}
        </Box>
      )}
      <NewJourneyDialog
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={({ journey_id }) => {
          setIsCreating(false)
          filters.set('journey', journey_id)
        }}
      />
    </Page>
  )
}

/** The code examples. The tab is in the query string. */
function CodeTabs({ journey_id }: { journey_id: string }) {
  const [search, setSearch] = useSearchParams()
  const [keyId, setKeyId] = useState<string>()
  const key = useKeyForCode(keyId)
  const { data: workspace } = useWorkspace()
  const baseUrl = `${location.origin}/v1`
  const asked = search.get('code')
  const current = examples.find(({ value }) => value === asked)?.value ?? 'curl'
  const serviceKey = key.data?.token ?? undefined

  return (
    <>
      <ProblemAlert error={key.error} onRetry={() => key.refetch()} />
      {/* A missing key may have been created since. */}
      <KeyChoice current={key.data === null && key.isFetching ? undefined : key.data} onChange={setKeyId} />
      <Tabs
        value={current}
        keepMounted={false}
        onChange={(value) =>
          setSearch(
            (before) => {
              before.set('code', value ?? 'curl')
              return before
            },
            { replace: true },
          )
        }
      >
        <Tabs.List aria-label="Where the event is sent from">
          {examples.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {examples.map(({ value, codeLabel, hint, codeOf }) => (
          <Tabs.Panel key={value} value={value} pt="md">
            <Stack>
              <Text size="sm">{hint}</Text>
              <CodeBlock label={codeLabel} code={codeOf({ baseUrl, journey_id, serviceKey })} />
              {value === 'curl' && serviceKey && workspace?.protect_customers && (
                <Text size="sm">
                  The first response says <Code>created: false</Code> even if the customer is new, because the
                  workspace protects its customers from publishable keys.
                </Text>
              )}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  )
}

const archive = `cairn-client-${CAIRN_VERSION}.tgz`

const installation = `First install the package cairn-client: run npm pack --workspace client in Cairn's directory to create ${archive}, or take that of the release, then npm install ./${archive} in your project.`

const examples = [
  {
    value: 'curl',
    label: 'curl',
    codeLabel: 'curl commands',
    hint: 'Paste this into a shell such as bash. It registers a customer, reads the customer_id from the response, and sends an event for that customer.',
    codeOf: curlCommands,
  },
  {
    value: 'browser',
    label: 'Browser',
    codeLabel: 'TypeScript for a browser',
    hint: installation,
    codeOf: browserModule,
  },
  {
    value: 'server',
    label: 'Server',
    codeLabel: 'TypeScript for a server',
    hint: `${installation} In production, read the key from an environment variable: never put a secret key in source code.`,
    codeOf: serverModule,
  },
] as const
