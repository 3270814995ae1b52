import { Badge, Box, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Schemas } from '../../../client/person.ts'
import { useKeyName } from '../../keys/key-name.tsx'
import { clockText, shortInstantText } from '../../parts/instants/instant-text.ts'
import { useToday } from '../../parts/instants/today.ts'
import { Loading } from '../../parts/loading.tsx'
import { countText } from '../../parts/number-text.ts'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { isolated } from '../../parts/visible-name.ts'
import { codeOf, taken } from '../../problem.ts'
import { useCairn, useWorkspaceKey } from '../../session/session.ts'
import { cureOf } from './cures.ts'
import { CureText, RefusalDetails } from './refusal-details.tsx'
import { type OpenRefusal, type OtherFilters, RefusalList } from './refusal-list.tsx'
import { SendAgain } from './send-again.tsx'

type RefusalGroup = Schemas['RefusalGroup']

/** One kind of rejected request from one key: how often and since when; expanded, how to fix it, examples and replay. */
export function RefusedGroup({
  group,
  siblings,
  filter,
  countedFrom,
  opened,
  onToggle,
  onOpen,
}: {
  group: RefusalGroup
  /** The groups with its code and key, including itself: a replay cannot be limited to a field. */
  siblings: readonly RefusalGroup[]
  filter: OtherFilters
  /** The start of the span that the groups count, which moves on after that of `filter`. */
  countedFrom: string
  opened: boolean
  onToggle: () => void
  /** Opens one of them next to the list. */
  onOpen: OpenRefusal
}) {
  const keyName = useKeyName(group.key_id)
  const detailsId = useId()
  const Chevron = opened ? IconChevronDown : IconChevronRight
  return (
    <Box component="li" className="timeline-line">
      <UnstyledButton
        w="100%"
        py={8}
        fz="sm"
        aria-expanded={opened}
        aria-controls={opened ? detailsId : undefined}
        onClick={onToggle}
      >
        <Group gap={8} wrap="nowrap" align="flex-start">
          <Chevron size={16} aria-hidden style={{ flexShrink: 0, marginTop: 3 }} />
          <Box flex={1} miw={0} className="breakable">
            <Text span inherit ff="monospace" fw={650}>
              {group.code}
            </Text>
            {group.field && (
              <Text span inherit ff="monospace">
                {' '}
                {isolated(group.field)}
              </Text>
            )}{' '}
            from key {keyName} since <Since at={group.first_at} />
            <Text component="span" display="block" size="xs" c="dimmed">
              {group.detail && (
                <>
                  {group.detail}
                  {' · '}
                </>
              )}
              last received <Since at={group.last_at} />
            </Text>
          </Box>
          <Sparkline counts={group.counts} />
          <Badge color="red" variant="light" miw="max-content" mt={1}>
            {countText(group.count)}×
          </Badge>
        </Group>
      </UnstyledButton>
      {opened && (
        <Box id={detailsId} pl={{ base: 0, sm: 24 }} pb="md" pt="xs">
          <GroupDetails
            group={group}
            siblings={siblings}
            filter={filter}
            countedFrom={countedFrom}
            onOpen={onOpen}
          />
        </Box>
      )}
    </Box>
  )
}

function GroupDetails({
  group,
  siblings,
  filter,
  countedFrom,
  onOpen,
}: {
  group: RefusalGroup
  siblings: readonly RefusalGroup[]
  filter: OtherFilters
  countedFrom: string
  onOpen: OpenRefusal
}) {
  const cairn = useCairn()
  const { code, key_id, example_id, left_out } = group
  const example = useQuery({
    queryKey: useWorkspaceKey('refusals', 'one', example_id),
    queryFn: ({ signal }) => taken(cairn.getRefusal({ path: { refusal_id: example_id }, signal })),
  })
  const groupFilter = { ...filter, code, key_id }
  // Only what the groups count, even if more arrive before the preview.
  const last_ms = Math.max(...siblings.map(({ last_at }) => Date.parse(last_at)))
  const counted = { received_from: countedFrom, received_to: new Date(last_ms + 1).toISOString() }
  return (
    <Stack gap="md">
      <div>
        <Title order={2} size="h6">
          How to fix
        </Title>
        <CureText code={code} />
      </div>
      {cureOf(code).canSendAgain && (
        <Stack gap={4}>
          {/* Under another filter, the preview of the one before would count other requests. */}
          <SendAgain key={JSON.stringify(groupFilter)} filter={{ ...groupFilter, ...counted }} />
          <Text size="xs" c="dimmed">
            Replays every request with this code and key, whatever its field.
          </Text>
        </Stack>
      )}
      <div>
        <Title order={2} size="h6" mb={4}>
          Most recent request
        </Title>
        {example.isPending && <Loading lines={3} />}
        {codeOf(example.error) === 'refusal_not_found' ? (
          <Text size="sm">Removed by a size or age limit.</Text>
        ) : (
          <ProblemAlert error={example.error} />
        )}
        {example.data && <RefusalDetails refusal={example.data} />}
      </div>
      {group.count > 1 && (
        <div>
          <Title order={2} size="h6" mb={4}>
            All requests
          </Title>
          {left_out > 0 && (
            <Text size="xs" c="dimmed">
              {countText(left_out)} more counted, contents not saved.
            </Text>
          )}
          <RefusalList filter={groupFilter} countedFrom={countedFrom} field={group.field} onOpen={onOpen} />
        </div>
      )}
    </Stack>
  )
}

/** The distribution over time; decorative, because the text next to it has the numbers. */
function Sparkline({ counts }: { counts: readonly number[] }) {
  const most = Math.max(1, ...counts)
  return (
    <Box
      aria-hidden
      visibleFrom="sm"
      h={22}
      w={120}
      style={{ display: 'flex', gap: 1, alignItems: 'flex-end', flexShrink: 0 }}
    >
      {counts.map((count, index) => (
        <Box
          // biome-ignore lint/suspicious/noArrayIndexKey: a period has no other name.
          key={index}
          flex={1}
          bg={count > 0 ? 'var(--series-5)' : 'var(--mantine-color-default-border)'}
          h={count > 0 ? `max(2px, ${(count / most) * 100}%)` : '1px'}
        />
      ))}
    </Box>
  )
}

/** `14:02`, with the day unless it is today. */
export function Since({ at }: { at: string }) {
  const instant = new Date(at)
  return instant.toDateString() === useToday() ? clockText(instant) : shortInstantText(instant)
}
