import '../events/events.css'
import { Alert, SegmentedControl, Stack, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle, IconSend } from '@tabler/icons-react'
import { useRef } from 'react'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { oneOf } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { millisecondsText, shortDayText } from '../parts/instants/instant-text.ts'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { useOpened } from '../parts/lists/opened.ts'
import { usePages } from '../parts/lists/pages.ts'
import { SideDrawer } from '../parts/lists/side-drawer.tsx'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { DeliveryDetails } from './delivery-details.tsx'
import { DeliveryStatus, deliveryStatuses } from './delivery-status.tsx'
import { typeLabel } from './webhook-types.tsx'

type Delivery = Schemas['Delivery']

/** The messages to a webhook, newest first, read again every few seconds. One is opened beside the list. */
export function Deliveries({ webhook }: { webhook: Schemas['Webhook'] }) {
  const { webhook_id } = webhook
  const cairn = useCairn()
  const filters = useFilters({ status: oneOf(deliveryStatuses.map(({ value }) => value)) })
  const { status } = filters.values
  const deliveries = usePages(
    useWorkspaceKey('webhooks', webhook_id, 'deliveries', status),
    (cursor, signal) => {
      const query = { ...(status && { status }), ...(cursor && { cursor }) }
      return taken(cairn.listWebhookDeliveries({ path: { webhook_id }, query, signal }))
    },
    { refetchInterval: 2000 },
  )
  const { openedId, open, close, movesIn } = useOpened('delivery')
  const [opened, keep] = useLastSeen(deliveries.items.find(({ delivery_id }) => delivery_id === openedId))
  const shown = opened?.delivery_id === openedId ? opened : undefined
  const newest = deliveries.items.find(({ last_attempt }) => last_attempt !== null)
  return (
    <Stack gap="sm">
      {newest?.last_attempt?.error === 'secret_unreadable' && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="The secret cannot be read">
          It was stored with another encryption key than this server has, as after a restore. Rotate the
          secret; nothing is lost.
        </Alert>
      )}
      <SegmentedControl
        size="xs"
        aria-label="Deliveries to show"
        value={status}
        onChange={(value) => filters.set('status', value)}
        data={[
          { value: '', label: 'All' },
          ...deliveryStatuses.map(({ value, label }) => ({ value, label })),
        ]}
        style={{ alignSelf: 'flex-start' }}
      />
      <ProblemAlert error={deliveries.listError} onRetry={() => deliveries.refetch()} />
      {deliveries.isPending && <Loading lines={5} />}
      {deliveries.items.length > 0 && (
        <DeliveryTable deliveries={deliveries.items} openedId={openedId} onOpen={open} />
      )}
      {deliveries.isEmpty && (
        <EmptyState
          title={status ? 'No deliveries with this status' : 'No deliveries yet'}
          icon={<IconSend />}
        >
          Messages appear here as soon as there is something to send, and are kept for 30 days. Tests are not
          listed.
        </EmptyState>
      )}
      <LoadMore query={deliveries} />
      <SideDrawer
        title={shown ? typeLabel(shown.type) : 'Delivery'}
        opened={openedId !== ''}
        onClose={() => close()}
        moves={movesIn(deliveries.items.map(({ delivery_id }) => delivery_id))}
      >
        {shown && (
          <DeliveryDetails
            key={shown.delivery_id}
            webhook={webhook}
            delivery={shown}
            onResent={(delivery) => {
              keep(delivery)
              // It has another status now, and is followed in the list of all.
              filters.clear()
            }}
          />
        )}
        {!shown && deliveries.isPending && <Loading lines={6} />}
        {!shown && !deliveries.isPending && (
          <EmptyState title="Not among the listed deliveries">
            It is older, has another status, or has been removed: deliveries are kept for 30 days.
          </EmptyState>
        )}
      </SideDrawer>
    </Stack>
  )
}

/** The last delivery that was given: it stays open when it leaves the list, for example by another status. */
function useLastSeen(delivery: Delivery | undefined) {
  const last = useRef(delivery)
  if (delivery) last.current = delivery
  const keep = (delivery: Delivery) => {
    last.current = delivery
  }
  return [last.current, keep] as const
}

function DeliveryTable({
  deliveries,
  openedId,
  onOpen,
}: {
  deliveries: readonly Delivery[]
  openedId: string
  onOpen: (id: string) => void
}) {
  return (
    <ArrowKeys>
      <Table
        className="event-rows"
        aria-label="Deliveries"
        layout="fixed"
        verticalSpacing={4}
        horizontalSpacing="xs"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={{ base: '7.5rem', sm: '11rem' }}>Created</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th w={125}>Status</Table.Th>
            <Table.Th visibleFrom="sm" w={90} ta="right">
              Attempts
            </Table.Th>
            <Table.Th visibleFrom="sm" w={150}>
              Next attempt
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.delivery_id}
              delivery={delivery}
              isOpened={delivery.delivery_id === openedId}
              onOpen={() => onOpen(delivery.delivery_id)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function DeliveryRow({
  delivery: { type, status, attempts, created_at, next_attempt_at },
  isOpened,
  onOpen,
}: {
  delivery: Delivery
  isOpened: boolean
  onOpen: () => void
}) {
  const at = new Date(created_at)
  return (
    <Table.Tr data-open={isOpened || undefined} onClick={onOpen}>
      <Table.Td>
        <UnstyledButton
          className="event-time"
          aria-haspopup="dialog"
          onClick={(click) => {
            // Open once, not again for the row.
            click.stopPropagation()
            onOpen()
          }}
        >
          <VisuallyHidden>{typeLabel(type)} at </VisuallyHidden>
          <Text span inherit c="dimmed" visibleFrom="sm">
            {shortDayText(at)}{' '}
          </Text>
          <time dateTime={created_at}>{millisecondsText(at)}</time>
        </UnstyledButton>
      </Table.Td>
      <Table.Td title={type}>{typeLabel(type)}</Table.Td>
      <Table.Td>
        <DeliveryStatus status={status} />
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        {countText(attempts)}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {next_attempt_at ? <Instant at={next_attempt_at} relative /> : '–'}
      </Table.Td>
    </Table.Tr>
  )
}
