import { Menu } from '@mantine/core'
import { IconEraser } from '@tabler/icons-react'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { onDemand } from '../parts/on-demand.tsx'
import { visibleName } from '../parts/visible-name.ts'

// Rarely needed.
const EraseDialog = onDemand(() => import('./erase-dialog.tsx').then((module) => module.EraseDialog))

/** The menu of actions on a customer. */
export function CustomerMenu({ customer }: { customer: Schemas['Customer'] }) {
  /** How often the dialog was opened; as its key, this resets the dialog each time. */
  const [asked, setAsked] = useState(0)
  const [isAsking, setIsAsking] = useState(false)
  const erase = () => {
    setAsked(asked + 1)
    setIsAsking(true)
  }
  return (
    <>
      <RowMenu name={visibleName(customer.customer_name, customer.customer_id)}>
        <Menu.Item color="red" leftSection={<IconEraser size={16} aria-hidden />} onClick={erase}>
          Erase…
        </Menu.Item>
      </RowMenu>
      {asked > 0 && (
        <EraseDialog key={asked} customer={customer} opened={isAsking} onClose={() => setIsAsking(false)} />
      )}
    </>
  )
}
