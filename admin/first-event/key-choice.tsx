import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { keyChoice } from '../keys/key-choices.ts'
import { type ChoiceSource, SearchedSelect } from '../parts/forms/searched-select.tsx'
import { nextFound } from '../parts/lists/pages.ts'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

type ServiceKey = Schemas['ServiceKey']

/** The active publishable keys; secret keys cannot be shown. */
function useUsableKeys() {
  const cairn = useCairn()
  return (query: { search?: string; limit: number }, signal: AbortSignal) =>
    nextFound((cursor, signal) => {
      const usable = { kind: 'publishable', status: 'active', ...query, ...(cursor && { cursor }) } as const
      return taken(cairn.listServiceKeys({ query: usable, signal }))
    }, signal)
}

/**
 * The key in the code: the selected one, otherwise the newest active one, preferably without allowed origins.
 */
export function useKeyForCode(chosenId: string | undefined) {
  const usableKeys = useUsableKeys()
  return useQuery({
    queryKey: useWorkspaceKey('service-keys', 'for-code', chosenId),
    queryFn: async ({ signal }): Promise<ServiceKey | null> => {
      const { data } = await usableKeys({ ...(chosenId && { search: chosenId }), limit: 20 }, signal)
      return data.find(({ allowed_origins }) => allowed_origins.length === 0) ?? data[0] ?? null
    },
  })
}

/**
 * Selects the key in the code. Offers to create one only if there is none: a publishable key can be shown again at any time.
 */
export function KeyChoice({
  current,
  onChange,
}: {
  /** Null if there is no active one, undefined while that is unknown. */
  current: ServiceKey | null | undefined
  onChange: (key_id: string) => void
}) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const { workspace_id, canChange } = useMembership()
  const usableKeys = useUsableKeys()
  const keysKey = useWorkspaceKey('service-keys')
  const source: ChoiceSource = {
    key: useWorkspaceKey('service-keys', 'usable choices'),
    async search(text, signal) {
      const { data, next_cursor } = await usableKeys({ ...(text && { search: text }), limit: 20 }, signal)
      return [{ items: data.map(keyChoice), hasMore: next_cursor !== null }]
    },
    find: async (key_id, signal) =>
      (await usableKeys({ search: key_id, limit: 1 }, signal)).data.map(keyChoice)[0],
  }
  const make = useMutation({
    mutationFn: () => taken(cairn.createServiceKey({ body: { kind: 'publishable', name: 'First event' } })),
    onSuccess: ({ key_id }) => {
      onChange(key_id)
      return queryClient.invalidateQueries({ queryKey: keysKey })
    },
  })

  return (
    <Stack gap="xs">
      {current && (
        <SearchedSelect
          label="Publishable key"
          source={source}
          value={current.key_id}
          known={keyChoice(current)}
          onChange={onChange}
          allowDeselect={false}
          nothingFoundMessage="No active publishable key with this name"
          maw={400}
        />
      )}
      {current === null && (
        <Group gap="sm">
          {canChange && (
            <Button loading={make.isPending} onClick={() => make.mutate()}>
              Create key
            </Button>
          )}
          <Text size="sm" flex="1 1 16rem">
            {canChange
              ? 'The code needs a publishable key in place of $CAIRN_SERVICE_KEY. There is none yet.'
              : 'The code needs a publishable key in place of $CAIRN_SERVICE_KEY. An owner or admin of the workspace can create one.'}
          </Text>
        </Group>
      )}
      {current && (
        <Text size="sm">
          It can only register customers and send events, so it is not secret.{' '}
          {current.allowed_origins.length > 0
            ? `Only pages from ${listFormat.format(current.allowed_origins)} may use it. `
            : ''}
          {canChange ? (
            <>
              To also read data from a server, create a secret key under{' '}
              <Anchor component={Link} inherit to={`/w/${workspace_id}/keys`}>
                Service keys
              </Anchor>
              .
            </>
          ) : (
            'To also read data from a server, ask an owner or admin of the workspace for a secret key.'
          )}
        </Text>
      )}
      {/* Once there is a key, it no longer matters that creating one failed. */}
      {current === null && (
        <>
          <ProblemAlert error={make.error} />
          <LostResponse error={make.error}>
            The key may have been created all the same. Reload the page before you try again.
          </LostResponse>
        </>
      )}
    </Stack>
  )
}

const listFormat = new Intl.ListFormat('en')
