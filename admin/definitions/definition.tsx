import { Anchor, Button, Group, Menu, Stack, Text, Title } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant, useNow } from '../parts/instants/instant.tsx'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { countText } from '../parts/number-text.ts'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { AllDefinitions } from './all-definitions.tsx'
import { FieldTable } from './field-table.tsx'
import { DefinitionForm } from './lazy-form.tsx'
import { ModeBadge, modes } from './mode.tsx'
import { useObserved } from './observed.ts'
import { RevisionList } from './revision-list.tsx'
import { Trial } from './trial.tsx'
import { Violations, violationsFrom } from './violations.tsx'

type Definition = Schemas['EventDefinition']

/** A definition: its fields, how stored events conform to them, and its revisions. */
export function DefinitionScreen() {
  const cairn = useCairn()
  const { definitionId: definition_id = '' } = useParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('definitions', definition_id),
    queryFn: ({ signal }) => taken(cairn.getEventDefinition({ path: { definition_id }, signal })),
  })
  const alert = <ProblemAlert error={error} onRetry={() => refetch()} />
  const isGone = codeOf(error) === 'definition_not_found'
  if (data) return <DefinitionPage key={definition_id} definition={data} isGone={isGone} alert={alert} />
  if (isGone) return <NotFound />
  return (
    <Page title="Event definition">
      {isPending && <Loading lines={8} />}
      {alert}
    </Page>
  )
}

function NotFound() {
  return (
    <Page title="Event definition">
      <EmptyState title="Definition not found" action={<AllDefinitions />}>
        This workspace has no definition with this ID. It may have been removed.
      </EmptyState>
    </Page>
  )
}

function DefinitionPage({
  definition,
  isGone,
  alert,
}: {
  definition: Definition
  /** Whether it has been removed since it was read. */
  isGone: boolean
  /** Why it could not be read again, if so. */
  alert: ReactNode
}) {
  const { canChange } = useMembership()
  const [isEditing, setIsEditing] = useState(false)
  const isChanging = canChange && isEditing
  const wasChanging = useRef(isChanging)
  useEffect(() => {
    if (wasChanging.current === isChanging) return
    wasChanging.current = isChanging
    // As after navigation: what had the focus is gone with the button or the form.
    document.querySelector('h1')?.focus()
  }, [isChanging])
  const observed = useObserved(definition.event_id)
  // What was typed stays until its author discards it.
  if (isGone && !isChanging) return <NotFound />
  return (
    <Page
      title={visibleName(definition.event_id)}
      description={definition.description}
      action={
        canChange &&
        !isChanging && (
          <Group gap="xs">
            <Button leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setIsEditing(true)}>
              Edit definition
            </Button>
            <Removal definition={definition} />
          </Group>
        )
      }
    >
      <Stack gap="lg">
        <AllDefinitions />
        {alert}
        {isChanging ? (
          <DefinitionForm
            definition={definition}
            onSaved={() => setIsEditing(false)}
            onCancel={() => setIsEditing(false)}
          />
        ) : (
          <>
            <Facts definition={definition} />
            <section aria-labelledby="fields-heading">
              <Title order={2} size="h4" mb="sm" id="fields-heading">
                Fields of custom_variables
              </Title>
              <FieldTable variables={definition.variables} observed={observed.data} />
              {!observed.data && <ProblemAlert error={observed.error} onRetry={() => observed.refetch()} />}
            </section>
            <Violations definition_id={definition.definition_id} />
            {canChange && <Conformance definition={definition} />}
            <RevisionList definition_id={definition.definition_id} />
          </>
        )}
      </Stack>
    </Page>
  )
}

function Facts({ definition }: { definition: Definition }) {
  const { workspace_id, canChange } = useMembership()
  const { definition_id, event_id, mode, revision, previous_accepted_until, updated_at } = definition
  const received_from = violationsFrom()
  const now_ms = useNow()
  return (
    <Stack component="dl" gap="xs" m={0}>
      <Fact name="Mode">
        <Group component="span" gap="xs">
          <ModeBadge mode={mode} />
          {modes.find(({ value }) => value === mode)?.meaning}
        </Group>
      </Fact>
      <Fact name="Revision">
        {countText(revision)}, changed <Instant at={updated_at} relative />
        {previous_accepted_until && Date.parse(previous_accepted_until) > now_ms && (
          <>
            . Events that conform to revision {countText(revision - 1)} are accepted until{' '}
            <Instant at={previous_accepted_until} />.{' '}
            {canChange && <Ending key={revision} definition={definition} />}
          </>
        )}
      </Fact>
      <Fact name="definition_id">
        <Identifier value={definition_id} label="definition_id" />
      </Fact>
      <Fact name="Events">
        <Anchor
          component={Link}
          inherit
          to={`/w/${workspace_id}/events?${new URLSearchParams({ event_id, received_from })}`}
        >
          Show events with this name
        </Anchor>
      </Fact>
    </Stack>
  )
}

/** The definition tried on stored events. */
function Conformance({ definition: { definition_id, mode, updated_at } }: { definition: Definition }) {
  const cairn = useCairn()
  const { data, error, refetch } = useQuery({
    queryKey: useWorkspaceKey('definitions', definition_id, 'trial', updated_at),
    queryFn: ({ signal }) => {
      // A change to what it already is: the dry run then only tries the definition.
      const request = { path: { definition_id }, query: { dry_run: true }, body: { mode }, signal }
      return taken(cairn.updateEventDefinition(request))
    },
  })
  if (data && !data.trial) return null
  return (
    <section aria-labelledby="conformance-heading">
      <Title order={2} size="h4" mb="sm" id="conformance-heading">
        Stored events
      </Title>
      {data?.trial && <Trial trial={data.trial} />}
      {!data && !error && <Loading lines={1} />}
      <ProblemAlert error={error} onRetry={() => refetch()} />
    </section>
  )
}

/** Ends the time in which the revision before is accepted too. */
function Ending({ definition: { definition_id, revision, mode } }: { definition: Definition }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const key = useWorkspaceKey('definitions', definition_id)
  const ending = useMutation({
    mutationFn: () => {
      return taken(
        cairn.updateEventDefinition({ path: { definition_id }, body: { previous_accepted_until: null } }),
      )
    },
    onSuccess: async () => {
      setIsAsking(false)
      await queryClient.invalidateQueries({ queryKey: key })
      void notify('Only the newest revision is accepted now.')
    },
  })
  function ask() {
    if (ending.isError) ending.reset()
    setIsAsking(true)
  }
  const before = `revision ${countText(revision - 1)}`
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={ask}>
        End now…
      </Button>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Stop accepting ${before}?`}
        confirmLabel="End now"
        pending={ending.isPending}
        error={ending.error}
        onConfirm={() => ending.mutate()}
      >
        <Text size="sm">
          New events that conform only to {before}{' '}
          {mode === 'enforce'
            ? 'are rejected from now on.'
            : 'are not affected while the mode is not Enforce.'}
        </Text>
      </ConfirmDialog>
    </>
  )
}

function Removal({ definition: { definition_id, event_id } }: { definition: Definition }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { workspace_id } = useMembership()
  const [isAsking, setIsAsking] = useState(false)
  const listKey = useWorkspaceKey('definitions', 'list')
  const removal = useMutation({
    mutationFn: () => taken(cairn.removeEventDefinition({ path: { definition_id } })),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: listKey })
      void notify('Definition removed.')
    },
  })
  /** Not part of the mutation: it does not lead away from another page that was opened meanwhile. */
  const leave = () => navigate(`/w/${workspace_id}/events/definitions`)
  function ask() {
    if (removal.isError) removal.reset()
    setIsAsking(true)
  }
  const name = visibleName(event_id)
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={ask}>
          Remove definition…
        </Menu.Item>
      </RowMenu>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Remove the definition of ${name}?`}
        confirmLabel="Remove definition"
        danger
        pending={removal.isPending}
        error={removal.error}
        onConfirm={() => removal.mutate(undefined, { onSuccess: leave })}
      >
        <Text size="sm">
          The definition and all its revisions are removed. New events with this name are no longer checked,
          unless the workspace warns about names without a definition or rejects them. Stored events stay.
        </Text>
      </ConfirmDialog>
    </>
  )
}
