import { Button, Group, Menu, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { givenNameFault } from '../parts/forms/field-faults.ts'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { Loading } from '../parts/loading.tsx'
import { LostResponse } from '../parts/lost-response.tsx'
import { notify } from '../parts/notify.ts'
import { onDemand } from '../parts/on-demand.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import type { Trend } from '../reports/cohorts.ts'
import { useReportsKey } from '../reports/report-query.ts'
import { useCairn, useMembership } from '../session/session.ts'
import { chartNames, firstChart, queryOf } from './view-address.ts'
import { ViewLine } from './view-line.tsx'
import { useViews, useViewsRefresh } from './views-query.ts'

// Few share views.
const ViewLinks = onDemand(
  () => import('./view-links.tsx').then((module) => module.ViewLinks),
  () => <Loading lines={3} />,
)

type View = Schemas['View']
/** What replaces the list. */
type Asked = 'rename' | 'replace' | 'links' | 'remove'
type Chart = NonNullable<Schemas['ViewQuery']['chart']>

/** The views of a journey, each with a menu, and a form that saves the report that is shown. */
export function JourneyViews({
  journey_id,
  onClose,
  onHold,
}: {
  journey_id: string
  onClose: () => void
  /** Called with whether the dialog must stay open. */
  onHold: (isHeld: boolean) => void
}) {
  const views = useViews(journey_id)
  const [asked, setAsked] = useState<{ view: View; what: Asked }>()
  const back = () => setAsked(undefined)
  if (asked?.what === 'rename') return <Renaming view={asked.view} onDone={back} />
  if (asked?.what === 'links') {
    return <ViewLinks view={asked.view} onDone={back} onHold={onHold} />
  }
  if (asked?.what === 'replace') return <Replacement view={asked.view} onDone={back} />
  if (asked?.what === 'remove') return <Removal view={asked.view} onDone={back} />
  return (
    <Stack>
      {views.isPending && <Loading lines={3} />}
      <ProblemAlert error={views.error} onRetry={() => void views.refetch()} />
      {views.data?.data.length === 0 && (
        <Text size="sm">
          No views yet. A view keeps the period and filters of a report and one of its charts under a name.
        </Text>
      )}
      {views.data && views.data.data.length > 0 && (
        // Saving another one stays in reach below a long list.
        <Stack
          component="ul"
          aria-label="Views"
          gap="xs"
          m={-4}
          p={4}
          mah="max(40dvh, 12rem)"
          style={{ listStyle: 'none', overflowY: 'auto', scrollPadding: 8 }}
        >
          {views.data.data.map((view) => (
            <ViewLine
              key={view.view_id}
              view={view}
              onOpen={onClose}
              menu={<ViewMenu view={view} onAsk={(what) => setAsked({ view, what })} />}
            />
          ))}
        </Stack>
      )}
      <SaveForm journey_id={journey_id} onSaved={onClose} />
    </Stack>
  )
}

function ViewMenu({ view, onAsk }: { view: View; onAsk: (what: Asked) => void }) {
  const { canChange } = useMembership()
  const change = useChange(view)
  if (view.visibility === 'workspace' && !canChange) return null
  return (
    <>
      <RowMenu name={view.name}>
        <Menu.Item onClick={() => onAsk('rename')}>Rename…</Menu.Item>
        <Menu.Item onClick={() => onAsk('replace')}>Replace with this report…</Menu.Item>
        {view.visibility === 'own' && canChange && (
          <Menu.Item
            onClick={() =>
              change.mutate(
                { visibility: 'workspace' },
                {
                  onSuccess: () => void notify('Everybody in the workspace sees the view now.'),
                  // The row goes with its alert: the list is read again after this error.
                  onError: (error) => {
                    if (codeOf(error) !== 'view_not_found') return
                    void notify(`The view “${visibleName(view.name)}” no longer exists.`)
                  },
                },
              )
            }
          >
            Share with the workspace
          </Menu.Item>
        )}
        {view.visibility === 'workspace' && (
          <Menu.Item onClick={() => onAsk('links')}>Links for people without an account…</Menu.Item>
        )}
        <Menu.Item color="red" onClick={() => onAsk('remove')}>
          Remove…
        </Menu.Item>
      </RowMenu>
      <ProblemAlert error={change.error} />
    </>
  )
}

function Renaming({ view, onDone }: { view: View; onDone: () => void }) {
  const change = useChange(view)
  const [name, setName] = useState(view.name)
  const fault = givenNameFault(name, 'Enter a name.')
  return (
    <Step
      label="Rename"
      fault={fault}
      pending={change.isPending}
      error={change.error}
      onBack={onDone}
      onSubmit={() => change.mutate({ name }, { onSuccess: onDone })}
    >
      <NameField value={name} fault={fault} onChange={setName} />
    </Step>
  )
}

function Replacement({ view, onDone }: { view: View; onDone: () => void }) {
  const { shownQuery, name } = useShownReport(view.journey_id)
  const change = useChange(view)
  const replace = useMutation({
    mutationFn: () =>
      withKnownZone(shownQuery(view.query.chart ?? firstChart), (query) => change.mutateAsync({ query })),
    onSuccess: () => void notify('The view shows this report now.'),
  })
  /** Not part of the mutation: once the dialog is closed, another report may be shown. */
  function leave(view: View) {
    name(view)
    onDone()
  }
  return (
    <Step
      label="Replace"
      pending={replace.isPending}
      error={replace.error}
      onBack={onDone}
      onSubmit={() => replace.mutate(undefined, { onSuccess: leave })}
    >
      <Text size="sm" className="breakable">
        Replace the view “{visibleName(view.name)}” with the report that is open
        {view.visibility === 'workspace' ? ', for everybody in the workspace and on its links' : ''}? The
        period and filters that it has now are lost.
      </Text>
    </Step>
  )
}

function Removal({ view, onDone }: { view: View; onDone: () => void }) {
  const cairn = useCairn()
  const refresh = useViewsRefresh()
  const { view_id, name, visibility } = view
  const remove = useMutation({
    mutationFn: () => taken(cairn.removeView({ path: { view_id } })),
    onSuccess: refresh,
  })
  return (
    <Step
      label="Remove"
      danger
      pending={remove.isPending}
      error={remove.error}
      onBack={onDone}
      onSubmit={() => remove.mutate(undefined, { onSuccess: onDone })}
    >
      <Text size="sm" className="breakable">
        Remove the view “{visibleName(name)}”
        {visibility === 'workspace' ? ' for everybody in the workspace' : ''}? The journey and its data stay.
      </Text>
    </Step>
  )
}

/** A step beside the list, which it replaces. */
function Step({
  label,
  danger = false,
  fault,
  pending,
  error,
  onBack,
  onSubmit,
  children,
}: {
  label: string
  danger?: boolean
  fault?: string | undefined
  pending: boolean
  error: unknown
  onBack: () => void
  onSubmit: () => void
  children: ReactNode
}) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!fault) onSubmit()
      }}
    >
      <Stack>
        {children}
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onBack} {...(danger && { autoFocus: true })}>
            Back
          </Button>
          <Button type="submit" loading={pending} {...(danger && { color: 'red' })}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function SaveForm({ journey_id, onSaved }: { journey_id: string; onSaved: () => void }) {
  const { canChange } = useMembership()
  const shown = useShownReport(journey_id)
  const refresh = useViewsRefresh()
  const cairn = useCairn()
  const [name, setName] = useState('')
  const [chart, setChart] = useState<Chart>(firstChart)
  const [visibility, setVisibility] = useState<View['visibility']>('own')
  const [isTried, setIsTried] = useState(false)
  const fault = givenNameFault(name, 'Enter a name.')
  const save = useMutation({
    mutationFn: () =>
      withKnownZone(shown.shownQuery(chart), (query) =>
        taken(cairn.createView({ body: { name, journey_id, query, visibility } })),
      ),
    onSuccess: () => {
      void refresh()
      void notify('View saved.')
    },
  })
  /** Not part of the mutation: once the dialog is closed, another report may be shown. */
  function leave(view: View) {
    shown.name(view)
    onSaved()
  }
  return (
    <form
      noValidate
      aria-labelledby="save-view-heading"
      onSubmit={(event) => {
        event.preventDefault()
        setIsTried(true)
        if (!fault) save.mutate(undefined, { onSuccess: leave })
      }}
    >
      <Stack gap="sm">
        <Title order={3} size="h5" id="save-view-heading">
          Save this report as a view
        </Title>
        <NameField value={name} fault={isTried ? fault : undefined} onChange={setName} />
        <NativeSelect
          label="Chart"
          value={chart}
          onChange={(change) => setChart(change.currentTarget.value as Chart)}
          data={Object.entries(chartNames).map(([value, label]) => ({ value, label }))}
        />
        {canChange && (
          <NativeSelect
            label="Visible to"
            value={visibility}
            onChange={(change) => setVisibility(change.currentTarget.value as View['visibility'])}
            data={[
              { value: 'own', label: 'Only me' },
              { value: 'workspace', label: 'Everybody in the workspace' },
            ]}
          />
        )}
        <ProblemAlert error={save.error} />
        <LostResponse error={save.error}>
          The view may have been saved all the same. Look for it in the list before you try again.
        </LostResponse>
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Save view
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function NameField({
  value,
  fault,
  onChange,
}: {
  value: string
  fault: string | undefined
  onChange: (name: string) => void
}) {
  return (
    <TextInput
      label="Name"
      autoComplete="off"
      withAsterisk
      error={fault}
      value={value}
      onChange={(change) => onChange(change.currentTarget.value)}
    />
  )
}

/** The report that is open: what it shows, and a way to name it as a view that shows the same. */
function useShownReport(journey_id: string) {
  const [search, setSearch] = useSearchParams()
  const queryClient = useQueryClient()
  const key = useReportsKey()
  return {
    shownQuery: (chart: Chart): View['query'] => {
      const query = queryOf(search, chart)
      if (chart !== 'trend' || query.by) return query
      // The chart has chosen its periods.
      const queryKey = [...key, journey_id, 'trend', '']
      const [trend] = queryClient.getQueriesData<Trend>({ queryKey, type: 'active' })
      const by = trend?.[1]?.by
      return { ...query, ...(by && { by }) }
    },
    name: ({ view_id, query: { by } }: View) =>
      setSearch(
        (current) => {
          current.set('view', view_id)
          if (by) current.set('by', by)
          return current
        },
        { replace: true, preventScrollReset: true },
      ),
  }
}

/** Saves a query; without its time zone if the server does not know it: a browser may know zones that are newer. */
async function withKnownZone<Saved>(
  query: View['query'],
  save: (query: View['query']) => Promise<Saved>,
): Promise<Saved> {
  try {
    return await save(query)
  } catch (error) {
    if (codeOf(error) !== 'time_zone_unknown') throw error
    const { time_zone: _, ...others } = query
    return await save(others)
  }
}

function useChange({ view_id }: View) {
  const cairn = useCairn()
  const refresh = useViewsRefresh()
  return useMutation({
    mutationFn: (body: Schemas['ViewUpdate']) => taken(cairn.updateView({ path: { view_id }, body })),
    onSuccess: refresh,
  })
}
