import { Badge, Box, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../../client/person.ts'
import { useKeyName } from '../../keys/key-name.tsx'
import { countText } from '../../parts/number-text.ts'
import { CureText } from './refusal-details.tsx'
import { Since } from './refused-group.tsx'

type Unsaved = Schemas['UnsavedRefusals']

/** Rejected requests that were only counted, by code and key, with how to fix them. */
export function UnsavedRefusals({ unsaved, groups }: Pick<Schemas['RefusalSummary'], 'unsaved' | 'groups'>) {
  return (
    <Stack component="ul" aria-label="Contents not saved" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
      {unsaved.map((refusals) => {
        const { code, key_id } = refusals
        const isOfGroup = groups.some((group) => group.code === code && group.key_id === key_id)
        return <Line key={`${code} ${key_id}`} unsaved={refusals} isOfGroup={isOfGroup} />
      })}
    </Stack>
  )
}

/** @param isOfGroup whether requests with the same code and key were saved, which show more */
function Line({
  unsaved: { code, key_id, count, first_at, last_at },
  isOfGroup,
}: {
  unsaved: Unsaved
  isOfGroup: boolean
}) {
  const keyName = useKeyName(key_id)
  return (
    <Box component="li" className="timeline-line" py={8} fz="sm">
      <Group gap={8} wrap="nowrap" align="flex-start">
        <Box flex={1} miw={0} className="breakable">
          <Text span inherit ff="monospace" fw={650}>
            {code}
          </Text>{' '}
          from key {keyName} since <Since at={first_at} />
          <Text component="span" display="block" size="xs" c="dimmed">
            contents not saved · last received <Since at={last_at} />
          </Text>
          {!isOfGroup && <CureText code={code} />}
        </Box>
        <Badge color="red" variant="light" miw="max-content" mt={1}>
          {countText(count)}×
        </Badge>
      </Group>
    </Box>
  )
}
