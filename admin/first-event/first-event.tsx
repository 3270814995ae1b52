import { Anchor, Button, Select, Stack, Tabs, Text, Title } from '@mantine/core'
import { IconRoute } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { NewJourneyDialog } from '../journeys/new-journey-dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { wholeList } from '../parts/whole-list.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { CodeBlock } from './code-block.tsx'
import { EventWatch } from './event-watch.tsx'
import { browserModule, curlCommands, serverModule } from './first-event-code.ts'
import { KeyChoice } from './key-choice.tsx'

/** How to send a first event, with real values filled in, and whether it has arrived. */
export function FirstEventScreen() {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const [search, setSearch] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const journeys = useQuery({
    queryKey: useWorkspaceKey('journeys', 'active'),
    queryFn: ({ signal }) =>
      wholeList((cursor) =>
        taken(
          cairn.listJourneys({ query: { status: 'active', limit: 500, ...(cursor && { cursor }) }, signal }),
        ),
      ),
  })
  const wanted = search.get('journey')
  const journey = wanted ? journeys.data?.find(({ journey_id }) => journey_id === wanted) : journeys.data?.[0]

  function choose(journey_id: string | null) {
    if (!journey_id) return
    setSearch(
      (before) => {
        before.set('journey', journey_id)
        return before
      },
      { replace: true },
    )
  }

  return (
    <Page
      title="Send your first event"
      description="Choose a journey, run the code where your program will run, and watch the event arrive below."
    >
      {journeys.isPending && <Loading lines={8} />}
      {journeys.error && <ProblemAlert error={journeys.error} onRetry={() => journeys.refetch()} />}
      {journeys.data?.length === 0 && (
        <EmptyState
          title="No active journey yet"
          icon={<IconRoute />}
          action={canChange && <Button onClick={() => setIsCreating(true)}>Create journey</Button>}
        >
          {canChange
            ? 'An event belongs to a journey. Create one first, for example Onboarding.'
            : 'An event belongs to a journey. An owner or an admin of the workspace can create one.'}
        </EmptyState>
      )}
      {journeys.data && journeys.data.length > 0 && (
        <Stack gap="lg">
          <Select
            label="Journey"
            placeholder="Choose a journey"
            searchable
            allowDeselect={false}
            maw={400}
            value={journey?.journey_id ?? null}
            onChange={choose}
            data={journeys.data.map(({ journey_id, name }) => ({ value: journey_id, label: name }))}
          />
          {journey ? (
            <>
              {/* Keys of one workspace must not be shown in another. */}
              <CodeTabs key={workspace_id} journey_id={journey.journey_id} />
              <section aria-labelledby="arrival-heading">
                <Title order={2} size="h4" id="arrival-heading" mb="sm">
                  What arrives
                </Title>
                <EventWatch key={journey.journey_id} journey={journey} />
              </section>
            </>
          ) : journeys.isFetching ? (
            // A journey that was made a moment ago.
            <Loading lines={6} />
          ) : (
            <Text>
              The journey that this address names is archived or not in this workspace. Choose another one, or
              restore it under{' '}
              <Anchor component={Link} to={`/w/${workspace_id}/journeys?status=archived`}>
                Journeys
              </Anchor>
              .
            </Text>
          )}
        </Stack>
      )}
      <NewJourneyDialog
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={({ journey_id }) => {
          setIsCreating(false)
          choose(journey_id)
        }}
      />
    </Page>
  )
}

/** The examples. The tab is in the query string; a key is kept only here. */
function CodeTabs({ journey_id }: { journey_id: string }) {
  const [search, setSearch] = useSearchParams()
  const [tokens, setTokens] = useState<Partial<Record<Schemas['KeyKind'], string>>>({})
  const baseUrl = `${location.origin}/v1`
  const asked = search.get('code')
  const current = examples.find(({ value }) => value === asked)?.value ?? 'curl'

  return (
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
      {examples.map(({ value, kind, codeLabel, hint, codeOf }) => (
        <Tabs.Panel key={value} value={value} pt="md">
          <Stack>
            <KeyChoice
              kind={kind}
              token={tokens[kind]}
              onChange={(token) => setTokens((before) => ({ ...before, [kind]: token }))}
            />
            <Text size="sm">{hint}</Text>
            <CodeBlock label={codeLabel} code={codeOf({ baseUrl, journey_id, serviceKey: tokens[kind] })} />
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

const installation =
  "Install the package cairn-client first: npm pack --workspace client in Cairn's folder makes cairn-client-1.0.0.tgz, and npm install ./cairn-client-1.0.0.tgz puts it into your project."

const examples = [
  {
    value: 'curl',
    label: 'curl',
    kind: 'secret',
    codeLabel: 'curl commands',
    hint: 'Paste this into a shell such as bash. It registers a customer, takes the customer_id out of the answer, and sends an event of that customer.',
    codeOf: curlCommands,
  },
  {
    value: 'browser',
    label: 'TypeScript, in a browser',
    kind: 'publishable',
    codeLabel: 'TypeScript for a browser',
    hint: installation,
    codeOf: browserModule,
  },
  {
    value: 'server',
    label: 'TypeScript, on a server',
    kind: 'secret',
    codeLabel: 'TypeScript for a server',
    hint: `${installation} Outside of a first try, read the key from the environment rather than from the source.`,
    codeOf: serverModule,
  },
] as const
