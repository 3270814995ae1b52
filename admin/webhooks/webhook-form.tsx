import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Checkbox.css'
import { Anchor, Button, Checkbox, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { LeaveGuard } from '../parts/forms/leave-guard.tsx'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { EventsField, JourneysField } from './filter-fields.tsx'
import { concerns, type WebhookDraft, webhookErrors, webhookFaults } from './webhook-draft.ts'
import { webhookTypes } from './webhook-types.tsx'

/** The form of a webhook, to create or to change one. */
export function WebhookForm({
  initial,
  isNew = false,
  submitLabel,
  save,
  onCancel,
}: {
  initial: WebhookDraft
  /** Whether it creates a webhook. */
  isNew?: boolean
  submitLabel: string
  /** Its result stays out of the form's state: it may have the secret. */
  save: (draft: WebhookDraft) => Promise<void>
  onCancel: () => void
}) {
  const form = useForm<WebhookDraft>({ initialValues: initial, validate: webhookFaults })
  const { journeys, events, window } = concerns(form.values)
  const saving = useMutation({
    mutationFn: save,
    onError: (error) => {
      const errors = webhookErrors(error)
      form.setErrors(errors)
      form.getInputNode(Object.keys(errors)[0] ?? '')?.focus()
    },
  })
  const isAtField = Object.keys(form.errors).length > 0

  return (
    <form
      noValidate
      onSubmit={form.onSubmit(
        (draft) => saving.mutate(draft),
        (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
      )}
    >
      <Stack maw="46rem">
        <TextInput
          label="URL"
          description="Where Cairn sends messages: an https URL with a public address."
          placeholder="https://hooks.example.com/cairn"
          type="url"
          inputMode="url"
          withAsterisk
          autoComplete="off"
          {...form.getInputProps('url')}
        />
        <TextInput
          label="Description"
          description="For the people who manage it."
          autoComplete="off"
          {...form.getInputProps('description')}
        />
        <Checkbox.Group label="Send a message when" withAsterisk {...form.getInputProps('types')}>
          <Stack gap="xs" mt="xs">
            {webhookTypes.map(({ value, label, meaning }) => (
              <Checkbox
                key={value}
                value={value}
                label={label}
                description={
                  <>
                    {meaning}{' '}
                    <Text span inherit ff="monospace">
                      {value}
                    </Text>
                  </>
                }
              />
            ))}
          </Stack>
        </Checkbox.Group>
        {window && (
          <TextInput
            label="Time to complete a journey"
            description="Counted from entering it, in days and hours. A change concerns customers that enter later."
            placeholder="7 d"
            withAsterisk
            autoComplete="off"
            maw={320}
            {...form.getInputProps('dropped_after')}
          />
        )}
        {journeys && (
          <Paper component="section" withBorder p="md" aria-labelledby="filters-heading">
            <Title order={2} size="h5" id="filters-heading">
              Only about
            </Title>
            <Stack gap="sm" mt="xs">
              <JourneysField {...form.getInputProps('journey_ids')} value={form.values.journey_ids} />
              {events && <EventsField {...form.getInputProps('event_ids')} value={form.values.event_ids} />}
            </Stack>
          </Paper>
        )}
        <ProblemAlert error={isAtField ? null : saving.error} />
        {isNew && (
          <LostResponse error={saving.error}>
            The webhook may have been created all the same. Look for it in the list of webhooks before you try
            again: if it is there, rotate its secret, because it cannot be shown again.
          </LostResponse>
        )}
        <Group>
          <Button type="submit" loading={saving.isPending}>
            {submitLabel}
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Anchor size="sm" href="/docs/#tag/Webhooks" target="_blank" rel="noreferrer">
            About webhooks
          </Anchor>
        </Group>
      </Stack>
      {/* Not once it is saved: a router has one guard, which is then that of the new secret. */}
      {form.isDirty() && !saving.isSuccess && (
        <LeaveGuard active title="Leave without saving?" confirmLabel="Leave without saving">
          Your changes to this webhook will be lost.
        </LeaveGuard>
      )}
    </form>
  )
}
