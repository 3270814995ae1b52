import { List } from '@mantine/core'
import { WorkspaceSetting } from './workspace-setting.tsx'

/** Whether publishable keys can neither rename customers of the workspace in the URL nor find out who is one. */
export function WorkspaceProtection() {
  return (
    <WorkspaceSetting
      label="Protect customers from publishable keys"
      reason="Anyone can read a publishable key in your page and use it to register customers and send events. The key does not prove who a visitor is."
      isOn={({ protect_customers }) => protect_customers}
      change={(protect_customers) => ({ protect_customers })}
      subject="Protection"
    >
      <List size="sm" spacing={4}>
        <List.Item>
          On: publishable keys cannot rename existing customers, or find out who is a customer.
        </List.Item>
        <List.Item>
          Off: publishable keys can rename customers, and responses (including dry runs) reveal who is a
          customer and who was erased.
        </List.Item>
        <List.Item>
          Either way, erased customers cannot be registered again. Secret keys are not affected.
        </List.Item>
      </List>
    </WorkspaceSetting>
  )
}
