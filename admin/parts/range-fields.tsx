import { Stack, Text } from '@mantine/core'
import type { TimeRange } from './filter-line.tsx'
import { InstantField } from './instant-field.tsx'
import { timeZoneText } from './time-zone.ts'

/** The fields of a custom time range. */
export function RangeFields({ range: { by, from, to, onFrom, onTo } }: { range: TimeRange }) {
  return (
    <Stack gap="sm">
      <InstantField label={`${by} from`} value={from} onChange={onFrom} />
      <InstantField label={`${by} before`} value={to} onChange={onTo} />
      <Text size="xs">{timeZoneText()}</Text>
    </Stack>
  )
}
