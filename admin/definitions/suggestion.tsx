import { Button, Group, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconWand } from '@tabler/icons-react'
import { countOf, countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { type DraftForm, variablesDraft } from './definition-draft.ts'
import { useObserved } from './observed.ts'

/** Number of events from which the server suggests a definition. */
const needed = 50

/** Fills the form with what the latest events with its name look like. */
export function Suggestion({ form }: { form: DraftForm }) {
  const [event_id] = useDebouncedValue(form.values.event_id, 300)
  const { data, error, refetch } = useObserved(event_id)
  if (error && !data) return <ProblemAlert error={error} onRetry={() => refetch()} />
  if (!data || data.examined === 0) return null
  const { suggestion, examined } = data
  if (!suggestion) {
    return (
      examined < needed && (
        <Text size="sm" mb="sm">
          Cairn suggests fields once {countText(needed)} events with this name are stored. There{' '}
          {examined === 1 ? 'is' : 'are'} {countText(examined)}.
        </Text>
      )
    )
  }
  return (
    <Group gap="sm" mb="sm">
      <Button
        variant="default"
        size="xs"
        leftSection={<IconWand size={16} aria-hidden />}
        onClick={() => form.setValues(variablesDraft(suggestion))}
      >
        Suggest a definition
      </Button>
      <Text size="sm">Replaces the fields with those of the latest {countOf(examined, 'event')}.</Text>
    </Group>
  )
}
