import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { OneTimeLink } from '../members/one-time-link.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { ShownOnceGuard, shownOnceKey } from '../parts/shown-once-dialog.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { useViewsRefresh } from './views-query.ts'

/** The links to a view for people without an account: create one, and revoke those that there are. */
export function ViewLinks({
  view,
  onDone,
  onHold,
}: {
  view: Schemas['View']
  onDone: () => void
  /** Called with whether closing the dialog would lose a new link. */
  onHold: (isHeld: boolean) => void
}) {
  const cairn = useCairn()
  const { role } = useMembership()
  const queryClient = useQueryClient()
  const path = { view_id: view.view_id }
  const queryKey = useWorkspaceKey('views', view.view_id, 'links')
  const [days, setDays] = useState('30')
  const links = useQuery({
    queryKey,
    queryFn: ({ signal }) => taken(cairn.listViewLinks({ path, signal })),
  })
  const refresh = () => queryClient.invalidateQueries({ queryKey })
  const refreshViews = useViewsRefresh()
  const create = useMutation({
    mutationKey: shownOnceKey,
    mutationFn: () => taken(cairn.createViewLink({ path, body: { valid_days: Number(days) } })),
    onSuccess: refresh,
  })
  const revoke = useMutation({
    mutationFn: (link_id: string) => taken(cairn.revokeViewLink({ path: { ...path, link_id } })),
    onSuccess: refresh,
  })
  const isHeld = create.isPending || create.isSuccess
  useEffect(() => {
    onHold(isHeld)
    return () => onHold(false)
  }, [onHold, isHeld])
  const name = visibleName(view.name, view.view_id)
  if (create.data) {
    const { token, expires_at } = create.data
    return (
      <OneTimeLink
        label="Link to the view"
        path="/shared"
        token={token}
        validity={
          <>
            The link works until <Instant at={expires_at} />.
          </>
        }
        onDone={create.reset}
      >
        Anyone who opens this link sees the numbers of “{name}”, without an account. It cannot be shown again.
      </OneTimeLink>
    )
  }
  const gone = [links.error, create.error, revoke.error].find((error) => codeOf(error) === 'view_not_found')
  if (gone) {
    return (
      <Stack>
        <ProblemAlert error={gone} />
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              void refreshViews()
              onDone()
            }}
          >
            Back
          </Button>
        </Group>
      </Stack>
    )
  }
  const isOff = codeOf(create.error) === 'view_links_off'
  return (
    <Stack>
      <Text size="sm" className="breakable">
        Links to “{name}” for people without an account. They show its numbers, and no customer or event.
      </Text>
      {links.isPending && <Loading lines={2} />}
      {/* After a change that is refused, the links are read again and refused too: once is enough. */}
      <ProblemAlert
        error={create.error || revoke.error ? null : links.error}
        onRetry={() => void links.refetch()}
      />
      {links.data?.data.length === 0 && <Text size="sm">There are no links.</Text>}
      {links.data && links.data.data.length > 0 && (
        <Stack component="ul" aria-label="Links" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
          {links.data.data.map((link) => (
            <Group component="li" key={link.link_id} justify="space-between" wrap="nowrap" gap="md">
              <Text size="sm" className="breakable">
                By {isolated(link.created_by)}, <Instant at={link.created_at} />; works until{' '}
                <Instant at={link.expires_at} />
              </Text>
              <Button
                variant="default"
                size="xs"
                flex="none"
                loading={revoke.isPending && revoke.variables === link.link_id}
                onClick={() => revoke.mutate(link.link_id)}
              >
                Revoke
              </Button>
            </Group>
          ))}
        </Stack>
      )}
      <ProblemAlert error={revoke.error} />
      <NativeSelect
        label="A new link works for"
        value={days}
        onChange={(change) => setDays(change.currentTarget.value)}
        data={[
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: '90', label: '90 days' },
          { value: '365', label: 'a year' },
        ]}
      />
      <ShownOnceGuard noun="link" cure="If you leave, you need to create another one." />
      {isOff ? (
        <Text size="sm" role="alert">
          Links to views are turned off in this workspace.{' '}
          {role === 'owner'
            ? 'Turn them on in the menu of the workspace, under “Links to views…”.'
            : 'An owner can turn them on.'}
        </Text>
      ) : (
        <>
          <ProblemAlert error={create.error} />
          <LostResponse error={create.error}>
            The link may have been created all the same. Look for it in the list before you try again, and
            revoke it, because it cannot be shown again.
          </LostResponse>
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" disabled={create.isPending} onClick={onDone}>
          Back
        </Button>
        <Button loading={create.isPending} onClick={() => create.mutate()}>
          Create link
        </Button>
      </Group>
    </Stack>
  )
}
