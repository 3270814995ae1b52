import { ActionIcon, Alert, Anchor, Group, List, SimpleGrid, Stack, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconFilter } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useKeyName } from '../keys/key-name.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { durationText } from '../parts/instants/duration-text.ts'
import { exactText } from '../parts/instants/instant-text.ts'
import { JsonTree } from '../parts/json/json-tree.tsx'
import { namesIn } from '../parts/json-pointer.ts'
import type { Moves } from '../parts/lists/opened.ts'
import { SideDrawer } from '../parts/lists/side-drawer.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { stepOf } from './event-rows.tsx'
import { valueText } from './variables-text.ts'

export type FilterBy = (
  name: 'journey_id' | 'customer_id' | 'event_id' | 'key_id' | 'variable',
  value: string,
) => void

/** The details of an event next to the list. `event` is null if it does not exist, undefined until it has loaded. */
export function EventDrawer({
  opened,
  event,
  error,
  onRetry,
  journey,
  onClose,
  onFilter,
  moves,
}: {
  opened: boolean
  event: Schemas['Event'] | null | undefined
  /** Why it could not be loaded. */
  error: unknown
  onRetry: () => void
  journey: Schemas['Journey'] | undefined
  onClose: () => void
  onFilter: FilterBy
  moves: Moves
}) {
  return (
    <SideDrawer
      title={event ? (stepOf(event, journey) ?? isolated(event.event_id)) : 'Event'}
      opened={opened}
      onClose={onClose}
      moves={moves}
    >
      {event && <EventFacts event={event} journey={journey} onFilter={onFilter} />}
      {event === undefined && !error && <Loading lines={6} />}
      <ProblemAlert error={error} onRetry={onRetry} />
      {event === null && (
        <EmptyState title="Event not found">This workspace has no event with this ID.</EmptyState>
      )}
    </SideDrawer>
  )
}

function EventFacts({
  event,
  journey,
  onFilter,
}: {
  event: Schemas['Event']
  journey: Schemas['Journey'] | undefined
  onFilter: FilterBy
}) {
  const { workspace_id } = useMembership()
  const { event_id, journey_id, customer_id, custom_variables, warnings } = event
  return (
    <Stack gap="md">
      <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
        <Fact name="Event">
          <Filterable
            label={`Filter by ${isolated(event_id)}`}
            onFilter={() => onFilter('event_id', event_id)}
          >
            <Text span inherit ff="monospace">
              {isolated(event_id)}
            </Text>
          </Filterable>
        </Fact>
        <Fact name="Journey">
          <Filterable label="Filter by this journey" onFilter={() => onFilter('journey_id', journey_id)}>
            <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${journey_id}`}>
              {journey ? visibleName(journey.name, journey_id) : journey_id}
            </Anchor>
          </Filterable>
        </Fact>
        <Fact name="Customer">
          <Filterable label="Filter by this customer" onFilter={() => onFilter('customer_id', customer_id)}>
            <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${customer_id}`}>
              {visibleName(event.customer_name, customer_id)}
            </Anchor>
          </Filterable>
        </Fact>
        <Fact name="Your identifier">
          <Identifier value={event.client_customer_id} label="client_customer_id" />
        </Fact>
        <Fact name="Received">{exactText(new Date(event.received_at))}</Fact>
        <Fact name="Occurred">
          {exactText(new Date(event.occurred_at))}
          <br />
          <Text span inherit c="dimmed">
            {delayText(event)}
          </Text>
        </Fact>
        <Fact name="Service key">
          {event.key_id === null ? (
            'Not recorded for this event'
          ) : (
            <SendingKey key_id={event.key_id} onFilter={onFilter} />
          )}
        </Fact>
        <Fact name="id">
          <Identifier value={event.id} label="id" />
        </Fact>
        <Fact name="customer_id">
          <Identifier value={customer_id} label="customer_id" />
        </Fact>
        <Fact name="Idempotency key (message_id)">
          {event.message_id === null ? (
            'None. A resend would be stored twice.'
          ) : (
            <Identifier value={event.message_id} label="message_id" />
          )}
        </Fact>
      </SimpleGrid>
      <Stack gap={4}>
        <Text size="xs" c="dimmed">
          Custom variables
        </Text>
        {warnings && <Warnings warnings={warnings} />}
        {custom_variables === null ? (
          <Text size="sm">None</Text>
        ) : (
          <JsonTree
            value={custom_variables}
            label="Copy variables"
            note={(pointer) => <Note texts={detailsAt(warnings, pointer)} />}
            action={(name, value) => (
              <FilterButton
                label={`Filter by this ${isolated(name)}`}
                onClick={() => onFilter('variable', `${name}=${valueText(value)}`)}
              />
            )}
          />
        )}
      </Stack>
    </Stack>
  )
}

/** How an event differs from its definition in force now. */
function Warnings({ warnings }: { warnings: Schemas['EventWarnings'] }) {
  return (
    <Alert color="yellow" p="xs" title="Does not conform to its current definition">
      <List size="sm">
        {warnings.map(({ code, pointer, detail }) => (
          <List.Item key={`${code} ${pointer}`} className="breakable">
            <Text span inherit ff="monospace">
              {isolated(nameOf(pointer))}
            </Text>{' '}
            {detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** The name of a field, such as `address.city` or `tags.0`. */
function nameOf(pointer: string): string {
  const [top = '', ...names] = namesIn(pointer)
  return names.join('.') || top
}

/** What is wrong with the value at a place in `custom_variables`. */
function detailsAt(warnings: Schemas['EventWarnings'] | undefined, pointer: string): string[] {
  const at = `/custom_variables${pointer}`
  return (warnings ?? []).flatMap((warning) => (warning.pointer === at ? warning.detail : []))
}

function Note({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => (
    <Group key={text} className="event-warning" gap={4} wrap="nowrap" ff="text" fz="xs">
      <IconAlertTriangle size={13} aria-hidden style={{ flexShrink: 0 }} />
      <span>{text}</span>
    </Group>
  ))
}

function SendingKey({ key_id, onFilter }: { key_id: string; onFilter: FilterBy }) {
  return (
    <Filterable label="Filter by this key" onFilter={() => onFilter('key_id', key_id)}>
      {useKeyName(key_id)}
    </Filterable>
  )
}

/** A value with a button that filters by it. */
function Filterable({
  label,
  onFilter,
  children,
}: {
  label: string
  onFilter: () => void
  children: ReactNode
}) {
  return (
    <Group component="span" display="inline-flex" gap={4} wrap="nowrap" maw="100%" align="flex-start">
      <span style={{ minWidth: 0, overflowWrap: 'anywhere' }}>{children}</span>
      <FilterButton label={label} onClick={onFilter} />
    </Group>
  )
}

function FilterButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size={24} aria-label={label} onClick={onClick}>
        <IconFilter size={13} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

/** The delay between occurrence and receipt of an event. */
function delayText({ occurred_at, received_at }: Schemas['Event']): string {
  const delay = Date.parse(received_at) - Date.parse(occurred_at)
  if (delay === 0) return 'at the time of receipt'
  return delay > 0
    ? `${durationText(delay)} before it was received`
    : `${durationText(-delay)} in the future, by the server’s clock`
}
