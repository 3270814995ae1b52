import { Anchor, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { wholeList } from '../parts/whole-list.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

type KeyChoiceProps = {
  kind: Schemas['KeyKind']
  /** The key in the code; undefined while there is none. */
  token: string | undefined
  onChange: (token: string) => void
}

/**
 * Makes the key that an example needs. A publishable one can also be chosen among those that there are; of a secret
 * one nobody knows the key any more.
 */
export function KeyChoice({ kind, token, onChange }: KeyChoiceProps) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const { workspace_id, canChange } = useMembership()
  const keysKey = useWorkspaceKey('service-keys')
  const keys = useQuery({
    queryKey: useWorkspaceKey('service-keys', 'publishable'),
    queryFn: ({ signal }) =>
      wholeList((cursor) =>
        taken(cairn.listServiceKeys({ query: { limit: 500, ...(cursor && { cursor }) }, signal })),
      ),
    select: usable,
    enabled: kind === 'publishable',
  })
  const make = useMutation({
    // The result stays out of the mutation's state: a secret key is kept nowhere but where it is shown.
    mutationFn: async () => {
      const made = await taken(cairn.createServiceKey({ body: { kind, name: 'First event' } }))
      if (made.token) onChange(made.token)
    },
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: keysKey }),
  })
  const chosen = keys.data?.find((key) => key.token === token)

  return (
    <Stack gap="xs">
      <Group align="flex-end">
        {kind === 'publishable' && keys.data && keys.data.length > 0 && (
          <Select
            label="Publishable key"
            placeholder="Choose a key"
            allowDeselect={false}
            value={chosen?.key_id ?? null}
            onChange={(key_id) => {
              const key = keys.data.find((key) => key.key_id === key_id)
              if (key?.token) onChange(key.token)
            }}
            data={keys.data.map(({ key_id, name, last_four }) => ({
              value: key_id,
              label: `${name} …${last_four}`,
            }))}
          />
        )}
        {canChange && (
          <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
            Make a key for this
          </Button>
        )}
      </Group>
      <Text size="sm">{explanation({ kind, token, canChange })}</Text>
      {kind === 'publishable' && (
        <Text size="sm">
          {chosen && chosen.allowed_origins.length > 0
            ? `Only pages of ${chosen.allowed_origins.join(', ')} may use this key. `
            : 'Pages of every origin may use the key. '}
          Origins can be limited under{' '}
          <Anchor component={Link} to={`/w/${workspace_id}/keys`}>
            Service keys
          </Anchor>
          .
        </Text>
      )}
      <ProblemAlert error={make.error} />
    </Stack>
  )
}

type Explained = Pick<KeyChoiceProps, 'kind' | 'token'> & { canChange: boolean }

function explanation({ kind, token, canChange }: Explained): string {
  if (!token) {
    return canChange
      ? `The code needs a ${kind} key in place of $CAIRN_SERVICE_KEY. Make one here, or put in one that you have.`
      : `The code needs a ${kind} key in place of $CAIRN_SERVICE_KEY. An owner or an admin of the workspace can make one.`
  }
  return kind === 'secret'
    ? 'The code holds a secret key named “First event”. It is shown only while this page is open; do not put it where others can read it.'
    : 'The code holds a publishable key. It is no secret: everybody can read it in your pages.'
}

function usable(keys: Schemas['ServiceKey'][]): Schemas['ServiceKey'][] {
  return keys.filter(({ kind, status }) => kind === 'publishable' && status === 'active')
}
