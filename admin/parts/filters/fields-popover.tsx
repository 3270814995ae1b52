import { Button, Popover } from '@mantine/core'
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
  async function open() {
    setLoaded({ Fields: await load() })
    setOpened(true)
  }
  return (
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
  )
}
