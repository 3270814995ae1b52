import { Text } from '@mantine/core'
import { WorkspaceSetting } from './workspace-setting.tsx'

/** Whether people without an account can see views of the workspace in the URL by links. */
export function WorkspaceViewLinks() {
  return (
    <WorkspaceSetting
      label="Allow links to views"
      reason="Owners and admins can create links by which people without an account see one view: its numbers, and no customer or event. Anyone who has a link sees them, until it expires or is revoked."
      isOn={({ view_links }) => view_links === 'on'}
      change={(isOn) => ({ view_links: isOn ? 'on' : 'off' })}
      subject="Links"
    >
      <Text size="sm">Off: no link shows anything. On again: links that have not expired work again.</Text>
    </WorkspaceSetting>
  )
}
