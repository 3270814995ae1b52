import { Button, Menu, Text } from '@mantine/core'
import { useState } from 'react'
import type { Output, OutputForm } from './output.ts'

/**
 * Saves a chart or a table as it stands, or copies it.
 * @param hasImage whether there is a drawing now; otherwise the items for images are disabled
 */
export function OutputMenu({
  output,
  hasImage,
}: {
  output: () => Output | Promise<Output>
  hasImage?: boolean | undefined
}) {
  const [failed, setFailed] = useState<OutputForm>()

  async function take(form: OutputForm) {
    setFailed(undefined)
    try {
      // Loaded with the first use, after what is shown was read.
      const [taken, { putOut }] = await Promise.all([output(), import('./output.ts')])
      await putOut(form, taken)
    } catch {
      setFailed(form)
    }
  }

  const item = (form: OutputForm, label: string) => (
    <Menu.Item
      disabled={hasImage === false && (form === 'png' || form === 'svg')}
      onClick={() => void take(form)}
    >
      {label}
    </Menu.Item>
  )
  return (
    <>
      {failed && (
        <Text size="sm" c="red" role="alert">
          {failed === 'text' ? 'Could not copy.' : 'Could not save.'} Try again, or reload the page.
        </Text>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="compact-sm">
            Save
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {item('csv', 'Table as CSV')}
          {hasImage !== undefined && item('png', 'Chart as PNG')}
          {hasImage !== undefined && item('svg', 'Chart as SVG')}
          {item('text', 'Copy as text')}
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
