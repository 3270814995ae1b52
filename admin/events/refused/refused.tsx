import { Alert, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconLock } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../../client/person.ts'
import { useJourneyChoices } from '../../journeys/journey-choices.ts'
import { JourneyFilter } from '../../journeys/journey-filter.tsx'
import { useKeyName } from '../../keys/key-name.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterField } from '../../parts/filters/filter-field.tsx'
import type { Chip } from '../../parts/filters/filter-line.tsx'
import { code, text } from '../../parts/filters/filter-readers.ts'
import { type Filters, given, useFilters } from '../../parts/filters/filters.ts'
import { ArrowKeys } from '../../parts/lists/arrow-keys.tsx'
import { useOpened } from '../../parts/lists/opened.ts'
import { SideDrawer } from '../../parts/lists/side-drawer.tsx'
import { Loading } from '../../parts/loading.tsx'
import { countOf, countText } from '../../parts/number-text.ts'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { codeOf, taken } from '../../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../../session/session.ts'
import { useChipText } from '../filter-chips.ts'
import { HappeningPage } from '../happening-page.tsx'
import { Histogram } from '../histogram.tsx'
import { type SpanFilters, spanNow, spanReaders, useSpan } from '../span.ts'
import { SpanFilterLine } from '../span-filter-line.tsx'
import { cureOf } from './cures.ts'
import { CureText, RefusalDetails } from './refusal-details.tsx'
import { RefusedGroup } from './refused-group.tsx'
import { SendAgain } from './send-again.tsx'
import { UnsavedRefusals } from './unsaved-refusals.tsx'

const readers = { code, key_id: text, journey_id: text, event_id: text, customer_id: text }

type Name = keyof typeof readers

const names = Object.keys(readers) as Name[]

/** Rejected requests, grouped by error, each with how to fix it. */
export function RefusedScreen() {
  const { canChange } = useMembership()
  return (
    <HappeningPage tab="refused">
      {canChange ? (
        <Groups />
      ) : (
        <EmptyState title="For owners and admins" icon={<IconLock />}>
          Rejected requests contain customer data, so only owners and admins of the workspace can see them.
          The overview shows how many there are.
        </EmptyState>
      )}
    </HappeningPage>
  )
}

function Groups() {
  const cairn = useCairn()
  const filters = useFilters(readers)
  const spans = useFilters(spanReaders)
  const span = useSpan(spans)
  const filter = given(filters.values)
  const { code: _, key_id: __, ...others } = filter
  const { code, key_id, journey_id, event_id, customer_id } = filters.values
  const [openedGroup, setOpenedGroup] = useState<string>()
  const { open } = useOpened('refusal')
  /** The list that contains the opened one. */
  const [listed, setListed] = useState<readonly string[]>([])
  const summary = useQuery({
    queryKey: useWorkspaceKey('refusals', 'summary', filter, span.query),
    queryFn: ({ signal }) =>
      taken(cairn.getRefusalSummary({ query: { ...filter, ...spanNow(span).query, periods: 24 }, signal })),
    placeholderData: keepPreviousData,
    // The most expensive summary takes a second of a thread that yields to all other reads.
    refetchInterval: 10_000,
  })
  const { groups = [], groups_omitted = 0, unsaved = [], from = '' } = summary.data ?? {}
  return (
    <Stack gap="sm">
      <RefusedFilterLine filters={filters} spans={spans} />
      <Histogram
        span={span}
        spans={spans}
        filter={{ journey_id, event_id, key_id }}
        note={code || customer_id ? 'not filtered by code and customer' : undefined}
      />
      <ProblemAlert error={summary.error} onRetry={() => summary.refetch()} />
      {summary.isPending && <Loading lines={5} />}
      {groups.length > 0 && (
        <ArrowKeys>
          <Stack
            component="ul"
            aria-busy={summary.isPlaceholderData}
            gap={0}
            m={0}
            p={0}
            style={{ listStyle: 'none' }}
          >
            {groups.map((group) => {
              const { code, field, key_id } = group
              const name = `${code} ${field} ${key_id}`
              return (
                <RefusedGroup
                  key={name}
                  group={group}
                  siblings={groups.filter((other) => other.code === code && other.key_id === key_id)}
                  filter={{ ...others, ...span.query }}
                  countedFrom={from}
                  opened={openedGroup === name}
                  onToggle={() => setOpenedGroup(openedGroup === name ? undefined : name)}
                  onOpen={(refusal_id, ids) => {
                    setListed(ids)
                    open(refusal_id)
                  }}
                />
              )
            })}
          </Stack>
        </ArrowKeys>
      )}
      {groups_omitted > 0 && (
        <Text size="sm">{countOf(groups_omitted, 'more group')}, each less frequent than these.</Text>
      )}
      {unsaved.length > 0 && <UnsavedRefusals unsaved={unsaved} groups={groups} />}
      {summary.data && summary.data.left_out > 0 && (
        <Alert color="gray" py="xs">
          {countText(summary.data.left_out)} of {countOf(summary.data.count, 'rejected request')} were only
          counted and their contents not saved, mostly because they arrived faster than contents are saved.
        </Alert>
      )}
      {summary.data?.count === 0 && !summary.isPlaceholderData && (
        <EmptyState title="No rejected requests" icon={<IconCircleCheck />}>
          {filters.count > 0 ? 'None that match these filters' : 'None'} in {span.text}. Requests rejected for
          their contents are kept here for a few days, so that you can replay them once the cause is fixed.
          Invalid JSON and revoked or expired keys are only counted. Unknown keys and rate limits are reported
          only to the sender.
        </EmptyState>
      )}
      <OpenedRefusal listed={listed} />
    </Stack>
  )
}

function RefusedFilterLine({
  filters: { values, set },
  spans,
}: {
  filters: Filters<Name>
  spans: SpanFilters
}) {
  const journeys = useJourneyChoices()
  const keyName = useKeyName(values.key_id)
  const texts = {
    ...values,
    key_id: keyName,
    journey_id: useChipText(journeys, values.journey_id),
  }
  const chips: Chip[] = names
    .filter((name) => values[name] !== '')
    .map((name) => ({ key: name, name: labels[name], text: texts[name], onRemove: () => set(name, '') }))
  return (
    <SpanFilterLine
      label="Filter rejected requests"
      spans={spans}
      chips={chips}
      fields={
        <>
          <FilterField
            label="code"
            description="For example customer_not_found"
            monospace
            value={values.code}
            onChange={(value) => set('code', value.trim())}
          />
          <FilterField
            label="key_id"
            monospace
            value={values.key_id}
            onChange={(value) => set('key_id', value.trim())}
          />
          <JourneyFilter value={values.journey_id} onChange={(value) => set('journey_id', value)} />
          <FilterField
            label="event_id"
            monospace
            value={values.event_id}
            onChange={(value) => set('event_id', value)}
          />
          <FilterField
            label="customer_id"
            description="As sent, even if no such customer exists"
            monospace
            value={values.customer_id}
            onChange={(value) => set('customer_id', value)}
          />
        </>
      }
    />
  )
}

const labels: Record<Name, string> = {
  code: 'code',
  key_id: 'key',
  journey_id: 'journey',
  event_id: 'event',
  customer_id: 'customer',
}

/** The rejected request in the address, next to the list, even if it is not in it. */
function OpenedRefusal({ listed }: { listed: readonly string[] }) {
  const cairn = useCairn()
  const { openedId, movesIn, close } = useOpened('refusal')
  const refusal = useQuery({
    queryKey: useWorkspaceKey('refusals', 'one', openedId),
    queryFn: ({ signal }) => taken(cairn.getRefusal({ path: { refusal_id: openedId }, signal })),
    enabled: openedId !== '',
  })
  return (
    <SideDrawer
      title={titleOf(refusal.data)}
      opened={openedId !== ''}
      onClose={() => close()}
      moves={movesIn(listed)}
    >
      {refusal.isPending && <Loading lines={6} />}
      {codeOf(refusal.error) === 'refusal_not_found' ? (
        <EmptyState title="Rejected request not found">Removed by a size or age limit.</EmptyState>
      ) : (
        <ProblemAlert error={refusal.error} onRetry={() => refusal.refetch()} />
      )}
      {refusal.data && (
        <Stack gap="md">
          <CureText code={refusal.data.code} />
          {cureOf(refusal.data.code).canSendAgain && (
            <SendAgain key={openedId} filter={{ refusal_id: openedId }} />
          )}
          <RefusalDetails refusal={refusal.data} />
        </Stack>
      )}
    </SideDrawer>
  )
}

function titleOf(refusal: Schemas['Refusal'] | undefined): string {
  return refusal?.code ?? 'Rejected request'
}
