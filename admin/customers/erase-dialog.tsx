import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Checkbox.css'
import { Checkbox, Stack, Text } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { useTypedName } from '../parts/forms/typed-name.tsx'
import { notify } from '../parts/notify.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** Erases a customer after its name is typed to confirm. */
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
    onSuccess: () => {
      // Without the name, which is erased too.
      void notify('Customer erased.')
      // Except for the queries of the page being left: they would be read again, and no longer exist.
      const isOfOthers = ({ queryKey }: { queryKey: QueryKey }) => !queryKey.includes(customer_id)
      void queryClient.resetQueries({ queryKey: customersKey, predicate: isOfOthers })
    },
  })
  /** Not part of the mutation: it does not lead away from another page that was opened meanwhile. */
  async function leave() {
    onClose()
    await navigate(`/w/${workspace_id}/customers`)
  }

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
      onConfirm={() => erase.mutate(undefined, { onSuccess: leave })}
    >
      <Stack gap="sm">
        <Text size="sm">
          This permanently deletes the customer’s profile, progress, events and rejected requests, and removes
          the customer from all reports. Further requests about the customer are rejected.
        </Text>
        <Checkbox
          label="Allow re-registration"
          description="Otherwise your application can never register a customer with the same identifier again."
          checked={mayReturn}
          onChange={(event) => setMayReturn(event.currentTarget.checked)}
        />
        {typedName.field}
      </Stack>
    </ConfirmDialog>
  )
}
