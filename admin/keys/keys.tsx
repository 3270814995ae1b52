import { Button, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { KeyCard } from './key-card.tsx'
import { type MadeKey, MadeKeyDialog } from './made-key-dialog.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'

/** The service keys of the workspace, newest first. The filter is in the query string. */
export function KeysScreen() {
  const cairn = useCairn()
  const { canChange } = useMembership()
  const [search, setSearch] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const isAll = search.get('status') === 'all'
  const keys = usePages(useWorkspaceKey('service-keys', 'list', { isAll }), async (cursor, signal) => {
    const query = { limit: 100, ...(cursor && { cursor }) }
    const page = await taken(cairn.listServiceKeys({ query, signal }))
    // The operation has no filter. A page without an active key is an empty one here.
    return { ...page, data: page.data.filter(({ status }) => isAll || status === 'active') }
  })

  function show(key: MadeKey) {
    setIsCreating(false)
    setMade(key)
  }

  return (
    <Page
      title="Service keys"
      description="Programs send a service key with every request, in the header x-service-key."
      action={
        canChange && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
            Create key
          </Button>
        )
      }
    >
      <Stack>
        <SegmentedControl
          aria-label="Keys to show"
          value={isAll ? 'all' : 'active'}
          onChange={(value) => setSearch(value === 'all' ? { status: 'all' } : {})}
          data={[
            { value: 'active', label: 'Active' },
            { value: 'all', label: 'All' },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
        {!canChange && (
          <Text size="sm">An owner or an admin of the workspace can create and change keys.</Text>
        )}
        {keys.isPending && <Loading lines={5} />}
        {keys.items.length > 0 && (
          <Stack component="ul" m={0} p={0} aria-label="Service keys" style={{ listStyle: 'none' }}>
            {keys.items.map((key) => (
              <KeyCard key={key.key_id} serviceKey={key} onMade={show} />
            ))}
          </Stack>
        )}
        {keys.isEmpty && (
          <EmptyState title={isAll ? 'No service keys yet' : 'No active service keys'} icon={<IconKey />}>
            {canChange
              ? 'Create a publishable key for your pages, or a secret one for your servers. With it, they send customers and events.'
              : 'Without one, no program can send customers and events.'}
          </EmptyState>
        )}
        {keys.error && !keys.isFetchNextPageError && (
          <ProblemAlert error={keys.error} onRetry={() => keys.refetch()} />
        )}
        <LoadMore query={keys} />
      </Stack>
      <NewKeyDialog opened={isCreating} onClose={() => setIsCreating(false)} onMade={show} />
      <MadeKeyDialog made={made} onClose={() => setMade(undefined)} />
    </Page>
  )
}
