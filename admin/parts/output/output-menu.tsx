import { Button, Menu } from '@mantine/core'
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
  const item = (form: OutputForm, label: string) => (
    <Menu.Item
      disabled={hasImage === false && (form === 'png' || form === 'svg')}
      // Loaded with the first use, after what is shown was read.
      onClick={async () => {
        const [taken, { putOut }] = await Promise.all([output(), import('./output.ts')])
        await putOut(form, taken)
      }}
    >
      {label}
    </Menu.Item>
  )
  return (
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
  )
}
