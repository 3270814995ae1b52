import { Alert, List, Text } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { useSearchParams } from 'react-router'
import type { UnreadFilter } from '../parts/filters/filters.ts'
import { countText } from '../parts/number-text.ts'
import { shortText } from '../parts/short-text.ts'
import { isolated } from '../parts/visible-name.ts'

/** Names the ignored filters, and removes them from the address. */
export function UnreadFiltersAlert({ unread }: { unread: readonly UnreadFilter[] }) {
  const [, setParameters] = useSearchParams()
  function remove() {
    setParameters(
      (before) => {
        for (const { name } of unread) before.delete(name)
        return before
      },
      { replace: true, preventScrollReset: true },
    )
  }
  return (
    <Alert
      mb="md"
      color="yellow"
      icon={<IconFilterOff size={18} aria-hidden />}
      title={
        unread.length === 1
          ? 'A filter in the address is invalid and was ignored'
          : `${countText(unread.length)} filters in the address are invalid and were ignored`
      }
      withCloseButton
      closeButtonLabel="Remove invalid filters"
      onClose={remove}
    >
      <List size="sm">
        {unread.map(({ name, text, form }) => (
          <List.Item key={name} className="breakable">
            <Text span inherit ff="monospace">
              {name}
            </Text>{' '}
            should be {form}, not “{isolated(shortText(text, 60))}”.
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
