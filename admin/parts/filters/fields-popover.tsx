import { Button, Popover, Text } from '@mantine/core'
import { type ComponentType, useState } from 'react'

/**
 * A button of a filter line that opens further fields. Their code is loaded with the first use, before the popover opens, so
 * that it can focus the first one.
 */
export function FieldsPopover<Props extends object>({
  label,
  load,
  fields,
}: {
  label: string
  load: () => Promise<ComponentType<Props>>
  fields: Props
}) {
  const [opened, setOpened] = useState(false)
  const [loaded, setLoaded] = useState<{ Fields: ComponentType<Props> }>()
  const [hasFailed, setHasFailed] = useState(false)

  async function open() {
    try {
      setLoaded({ Fields: await load() })
      setHasFailed(false)
      setOpened(true)
    } catch {
      setHasFailed(true)
    }
  }

  return (
    <>
      <Popover
        position="bottom-start"
        shadow="md"
        withinPortal={false}
        trapFocus
        opened={opened}
        onChange={setOpened}
        width="min(24rem, 92vw)"
      >
        <Popover.Target>
          <Button variant="default" size="xs" onClick={() => (opened ? setOpened(false) : void open())}>
            {label}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={label}>{loaded && <loaded.Fields {...fields} />}</Popover.Dropdown>
      </Popover>
      {hasFailed && (
        <Text size="sm" c="red" role="alert">
          Could not load this. Try again, or reload the page.
        </Text>
      )}
    </>
  )
}
