import { Stack, Text } from '@mantine/core'
import { timeZoneText } from '../instants/time-zone.ts'
import { InstantField } from './instant-field.tsx'

/** A range from an instant (inclusive) to another (exclusive). */
export type CustomRange = {
  /** What the range applies to: `Received`. */
  by: string
  /** In UTC; '' for none. */
  from: string
  to: string
  onFrom: (from: string) => void
  onTo: (to: string) => void
}

/** The fields of a custom time range. */
export function RangeFields({ range: { by, from, to, onFrom, onTo } }: { range: CustomRange }) {
  return (
    <Stack gap="sm">
      <InstantField label={`${by} from`} value={from} onChange={onFrom} />
      <InstantField label={`${by} before`} value={to} after={from} onChange={onTo} />
      <Text size="xs">{timeZoneText()}</Text>
    </Stack>
  )
}
