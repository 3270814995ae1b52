import { Stack } from '@mantine/core'
import { IconListDetails } from '@tabler/icons-react'
import { useNavigate, useSearchParams } from 'react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { useMembership } from '../session/session.ts'
import { AllDefinitions } from './all-definitions.tsx'
import { DefinitionForm } from './lazy-form.tsx'

/** Defines an event; the query string can have its name. */
export function NewDefinitionScreen() {
  const { workspace_id, canChange } = useMembership()
  const navigate = useNavigate()
  const [parameters] = useSearchParams()
  const event_id = parameters.get('event_id') ?? ''
  const path = `/w/${workspace_id}/events/definitions`
  return (
    <Page title="Define an event">
      <Stack gap="lg">
        <AllDefinitions />
        {canChange ? (
          <DefinitionForm
            key={event_id}
            event_id={event_id}
            onSaved={({ definition_id }) => navigate(`${path}/${definition_id}`)}
            onCancel={() => navigate(path)}
          />
        ) : (
          <EmptyState title="For owners and admins" icon={<IconListDetails />}>
            Your role in this workspace is viewer. Owners and admins can define events and change your role.
          </EmptyState>
        )}
      </Stack>
    </Page>
  )
}
