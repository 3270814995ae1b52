import { Checkbox, Stack, Text } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notify } from '../parts/notify.ts'
import { useTypedName } from '../parts/typed-name.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** Erases a customer; it asks for its name. */
export function EraseDialog({
  customer,
  opened,
  onClose,
}: {
  customer: Schemas['Customer']
  opened: boolean
  onClose: () => void
}) {
  const { customer_id } = customer
  const name = visibleName(customer.customer_name, customer_id)
  const { workspace_id } = useMembership()
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const customersKey = useWorkspaceKey('customers')
  const typedName = useTypedName(name)
  const [mayReturn, setMayReturn] = useState(false)
  const erase = useMutation({
    mutationFn: () => {
      return taken(cairn.eraseCustomer({ path: { customer_id }, query: { may_return: mayReturn } }))
    },
    onSuccess: async () => {
      onClose()
      await navigate(`/w/${workspace_id}/customers`)
      // Without the name: it stands in a message that others may see.
      void notify('The customer is erased.')
      // But for what the page that is left has asked for: it would be asked for again, and is not there.
      const isOfOthers = ({ queryKey }: { queryKey: QueryKey }) => !queryKey.includes(customer_id)
      void queryClient.resetQueries({ queryKey: customersKey, predicate: isOfOthers })
    },
  })

  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Erase ${name}?`}
      confirmLabel="Erase customer"
      danger
      disabled={!typedName.isTyped}
      pending={erase.isPending}
      error={erase.error}
      onConfirm={() => erase.mutate()}
    >
      <Stack gap="sm">
        <Text size="sm">
          Its profile, its place in journeys, its events of any date and what was refused of it are removed
          for good. Reports are then as if it had never been. What programs still send about it is refused.
        </Text>
        <Checkbox
          label="Allow re-registration"
          description="Otherwise the same identifier of yours is never registered again."
          checked={mayReturn}
          onChange={(event) => setMayReturn(event.currentTarget.checked)}
        />
        {typedName.field}
      </Stack>
    </ConfirmDialog>
  )
}
