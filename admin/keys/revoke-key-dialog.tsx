import { Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

type RevokeKeyDialogProps = {
  /** The last one, if any, while the dialog is closed. */
  serviceKey: Schemas['ServiceKey'] | undefined
  opened: boolean
  onClose: () => void
}

/** Revokes a key, after confirmation. */
export function RevokeKeyDialog({ serviceKey, opened, onClose }: RevokeKeyDialogProps) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const keysKey = useWorkspaceKey('service-keys')
  const revoke = useMutation({
    mutationFn: ({ key_id }: Schemas['ServiceKey']) => taken(cairn.revokeServiceKey({ path: { key_id } })),
    onSuccess: () => {
      onClose()
      void queryClient.invalidateQueries({ queryKey: keysKey })
    },
  })

  const name = serviceKey && visibleName(serviceKey.name, `…${serviceKey.last_four}`)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={() => {
        revoke.reset()
        onClose()
      }}
      title={`Revoke ${name}?`}
      confirmLabel="Revoke key"
      danger
      pending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => serviceKey && revoke.mutate(serviceKey)}
    >
      {serviceKey && <RevocationEffects serviceKey={serviceKey} />}
    </ConfirmDialog>
  )
}

function RevocationEffects({
  serviceKey: { last_four, last_used_at },
}: {
  serviceKey: Schemas['ServiceKey']
}) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        All requests with the key …{last_four} will be rejected immediately and permanently, and not stored.
      </Text>
      <Text size="sm">
        {last_used_at ? (
          <>
            The key was last used <Instant at={last_used_at} relative />. If programs still use it, rotate it
            instead: both keys then work during a grace period.
          </>
        ) : (
          'The key was never used.'
        )}
      </Text>
    </Stack>
  )
}
