import { Box, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconKey, IconPlus, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { oneOf, text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { useNow } from '../parts/instants/instant.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { RowMenuHeader } from '../parts/lists/row-menu.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { ShownOnceGuard } from '../parts/shown-once-dialog.tsx'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import { type KeyDialog, KeyRow, statusAt } from './key-row.tsx'
import { type MadeKey, MadeKeyDialog } from './made-key-dialog.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

/** The service keys of the workspace, newest first. The filter is in the query string. */
export function KeysScreen() {
  const cairn = useCairn()
  const { canChange } = useMembership()
  const filters = useFilters({ search: text, status: oneOf(['active', 'all']) })
  const [, setParameters] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  // Beside the list, so that a dialog and its error stay if its key is no longer listed.
  const [askedKey, setAskedKey] = useState<Schemas['ServiceKey']>()
  const [dialog, setDialog] = useState<KeyDialog>()
  const [made, setMade] = useState<MadeKey>()
  const search = filters.values.search.trim()
  const isAll = filters.values.status === 'all'
  const keys = usePages(
    useWorkspaceKey('service-keys', 'list', { search, isAll }),
    (cursor, signal) => {
      const filter = { ...(search && { search }), ...(!isAll && { status: 'active' as const }) }
      return taken(cairn.listServiceKeys({ query: { ...filter, ...(cursor && { cursor }) }, signal }))
    },
    { keepsList: true },
  )

  const now_ms = useNow()
  const read_ms = keys.dataUpdatedAt
  const shown = isAll ? keys.items : keys.items.filter((key) => statusAt(key, now_ms, read_ms) === 'active')
  const isRead = keys.data !== undefined && !keys.isPlaceholderData
  const isEmpty = isRead && shown.length === 0 && !keys.hasNextPage

  function show(key: MadeKey) {
    setIsCreating(false)
    setMade(key)
  }
  function ask(key: Schemas['ServiceKey'], dialog: KeyDialog) {
    setAskedKey(key)
    setDialog(dialog)
  }
  const close = () => setDialog(undefined)

  return (
    <Page
      title="Service keys"
      description={
        <>
          Service keys are your API keys. Programs send one with every request, in the header{' '}
          <span style={{ whiteSpace: 'nowrap' }}>x-service-key</span>.
        </>
      }
      action={
        canChange && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
            Create key
          </Button>
        )
      }
    >
      <Stack>
        <Group gap="sm">
          <Box flex="1 1 18rem">
            <FilterField
              aria-label="Search keys"
              placeholder="Search by name or last four characters"
              leftSection={<IconSearch size={16} aria-hidden />}
              value={filters.values.search}
              onChange={(value) => filters.set('search', value)}
            />
          </Box>
          <SegmentedControl
            aria-label="Keys to show"
            value={isAll ? 'all' : 'active'}
            // Pushed to the history: Back returns to the previous filter.
            onChange={(value) =>
              setParameters((before) => {
                if (value === 'all') before.set('status', value)
                else before.delete('status')
                return before
              })
            }
            data={[
              { value: 'active', label: 'Active' },
              { value: 'all', label: 'All' },
            ]}
          />
        </Group>
        {!canChange && <Text size="sm">An owner or admin of the workspace can create and change keys.</Text>}
        {keys.isPending && <Loading lines={5} />}
        {shown.length > 0 && (
          <div aria-busy={keys.isPlaceholderData}>
            <KeyTable keys={shown} read_ms={read_ms} onAsk={ask} />
          </div>
        )}
        {isEmpty && search && (
          <EmptyState title="No key found" icon={<IconSearch />}>
            No {isAll ? '' : 'active '}key has a name with a word that starts with “{isolated(search)}”, or
            ends with these characters.
          </EmptyState>
        )}
        {isEmpty && !search && (
          <EmptyState title={isAll ? 'No service keys yet' : 'No active service keys'} icon={<IconKey />}>
            {canChange
              ? 'Create a publishable key for browsers or a secret key for servers, to send customers and events.'
              : 'Programs need a key to send customers and events.'}
          </EmptyState>
        )}
        <ProblemAlert error={keys.listError} onRetry={() => keys.refetch()} />
        <LoadMore query={keys} />
      </Stack>
      <NewKeyDialog opened={isCreating} onClose={() => setIsCreating(false)} onMade={show} />
      <EditKeyDialog serviceKey={askedKey} opened={dialog === 'edit'} onClose={close} />
      <RotateKeyDialog serviceKey={askedKey} opened={dialog === 'rotate'} onClose={close} onMade={show} />
      <RevokeKeyDialog serviceKey={askedKey} opened={dialog === 'revoke'} onClose={close} />
      <MadeKeyDialog made={made} onClose={() => setMade(undefined)} />
      <ShownOnceGuard noun="key" cure="If you leave, you may need to create another one." />
    </Page>
  )
}

function KeyTable({
  keys,
  read_ms,
  onAsk,
}: {
  keys: Schemas['ServiceKey'][]
  /** When the list was read. */
  read_ms: number
  onAsk: (key: Schemas['ServiceKey'], dialog: KeyDialog) => void
}) {
  const { canChange } = useMembership()
  return (
    <ArrowKeys>
      <Table aria-label="Service keys" layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th visibleFrom="sm" w={110}>
              Key
            </Table.Th>
            <Table.Th visibleFrom="sm" w={120}>
              Status
            </Table.Th>
            <Table.Th visibleFrom="sm" w={165}>
              Last used
            </Table.Th>
            {canChange && <RowMenuHeader />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.key_id}
              serviceKey={key}
              read_ms={read_ms}
              onAsk={(dialog) => onAsk(key, dialog)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}
