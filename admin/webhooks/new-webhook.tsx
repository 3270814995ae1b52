import { Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { Page } from '../parts/page.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { AllWebhooks, ForAdmins } from './all-webhooks.tsx'
import { MadeSecretDialog } from './made-secret-dialog.tsx'
import { newWebhookDraft, webhookBody } from './webhook-draft.ts'
import { WebhookForm } from './webhook-form.tsx'

/** Creates a webhook, shows its secret, and goes on to its page. */
export function NewWebhookScreen() {
  const { canChange } = useMembership()
  return (
    <Page
      title="Create webhook"
      description="A webhook sends messages about what happens after it is created."
    >
      {canChange ? <NewWebhook /> : <ForAdmins />}
    </Page>
  )
}

function NewWebhook() {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const webhooksKey = useWorkspaceKey('webhooks')
  const { workspace_id } = useMembership()
  const [made, setMade] = useState<Schemas['WebhookWithSecret']>()
  /** The new webhook, once its secret was shown. */
  const [finishedId, setFinishedId] = useState<string>()
  const path = `/w/${workspace_id}/webhooks`
  if (finishedId) return <Navigate to={`${path}/${finishedId}`} replace />
  return (
    <Stack gap="lg">
      <AllWebhooks />
      <WebhookForm
        initial={newWebhookDraft}
        isNew
        submitLabel="Create webhook"
        save={async (draft) => {
          setMade(await taken(cairn.createWebhook({ body: webhookBody(draft) })))
          void queryClient.invalidateQueries({ queryKey: webhooksKey })
        }}
        onCancel={() => void navigate(path)}
      />
      {made && (
        <MadeSecretDialog
          host={new URL(made.webhook.url).host}
          secret={made.secret}
          onClose={() => setFinishedId(made.webhook.webhook_id)}
        />
      )}
    </Stack>
  )
}
