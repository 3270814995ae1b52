import '../parts/forms/save-bar.css'
import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Radio.css'
import '@mantine/core/styles/Switch.css'
import { Button, Group, Paper, Radio, Stack, Switch, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { LeaveGuard } from '../parts/forms/leave-guard.tsx'
import { monospaceField } from '../parts/forms/monospace-field.ts'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import {
  type DefinitionDraft,
  type DraftForm,
  definitionChanges,
  definitionCreation,
  definitionFaults,
  draftOfDefinition,
  jsonFault,
  jsonText,
  newDefinitionDraft,
} from './definition-draft.ts'
import { FieldList } from './field-list.tsx'
import { modes } from './mode.tsx'
import { type Confirmation, ReviewDialog } from './review-dialog.tsx'
import { Suggestion } from './suggestion.tsx'
import { definedValue, draftOf } from './value-draft.ts'

type Definition = Schemas['EventDefinition']
type Change = Schemas['EventDefinitionChange']

/** How a change is sent: as a dry run, or with what the person confirmed. */
type Sending = { draft: DefinitionDraft; confirmation?: Confirmation }

type DefinitionFormProps = {
  /** The newest known version; absent for a new definition. */
  definition?: Definition
  /** The initial name of a new definition. */
  event_id?: string
  onSaved: (saved: Definition) => void
  onCancel: () => void
}

/**
 * Defines an event, or changes a definition; only changed fields are sent. Before anything is saved, a dry run shows what
 * the change means.
 */
export function DefinitionForm({ definition, event_id = '', onSaved, onCancel }: DefinitionFormProps) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const definitionsKey = useWorkspaceKey('definitions')
  /** The version that the draft is based on. */
  const [base] = useState(definition)
  const form = useForm<DefinitionDraft>({
    initialValues: base ? draftOfDefinition(base) : newDefinitionDraft(event_id),
    validate: definitionFaults,
    // What is saved is what was reviewed.
    onValuesChange: () => review.reset(),
  })
  const [saved, setSaved] = useState<Definition>()
  const isEdited = form.isDirty() && !saved

  // Not at once: until the form is rendered as saved, it keeps the page from being left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when it is saved.
  useEffect(() => {
    if (saved) onSaved(saved)
  }, [saved])

  /** @throws {SyntaxError} if the draft is invalid JSON; the form validates it first */
  function send({ draft, confirmation }: Sending, query: { dry_run?: boolean } = {}): Promise<Change> {
    if (!base) return taken(cairn.defineEvent({ body: definitionCreation(draft), query }))
    const body = { ...definitionChanges(base, draft), ...confirmation }
    return taken(cairn.updateEventDefinition({ path: { definition_id: base.definition_id }, body, query }))
  }
  const review = useMutation({
    // Confirmed, so that the reply says what breaks instead of refusing it.
    mutationFn: (draft: DefinitionDraft) => {
      const confirmation = base ? { confirm_breaking: true } : {}
      return send({ draft, confirmation }, { dry_run: true })
    },
  })
  const save = useMutation({
    mutationFn: (sending: Sending) => send(sending),
    onSuccess: ({ definition }) => {
      queryClient.setQueryData([...definitionsKey, definition.definition_id], definition)
      void queryClient.invalidateQueries({ queryKey: definitionsKey })
      void notify(base ? 'Definition saved.' : 'Event defined.')
      setSaved(definition)
    },
  })

  function submit(draft: DefinitionDraft) {
    save.reset()
    if (base && Object.keys(definitionChanges(base, draft)).length === 0) onCancel()
    else review.mutate(draft)
  }

  return (
    <>
      <form
        noValidate
        onSubmit={form.onSubmit(submit, (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus())}
      >
        <Stack gap="lg">
          <Stack maw={640}>
            {!base && (
              <TextInput
                label="event_id"
                description="The name of the events, exactly as your application sends it."
                withAsterisk
                autoComplete="off"
                autoCapitalize="off"
                spellCheck={false}
                styles={{ input: monospaceField }}
                {...form.getInputProps('event_id')}
              />
            )}
            <Textarea
              label="Description"
              description="Optional. When the event happens, for the people who send and read it."
              autosize
              minRows={2}
              maxRows={12}
              {...form.getInputProps('description')}
            />
            <Radio.Group label="Mode" {...form.getInputProps('mode')}>
              <Stack gap="xs" mt={4}>
                {modes.map(({ value, label, meaning }) => (
                  <Radio key={value} value={value} label={label} description={meaning} />
                ))}
              </Stack>
            </Radio.Group>
          </Stack>
          <section aria-labelledby="form-fields-heading">
            <Group justify="space-between" mb="sm">
              <Title order={2} size="h4" id="form-fields-heading">
                Fields of custom_variables
              </Title>
              <JsonSwitch form={form} />
            </Group>
            <Suggestion form={form} />
            {form.values.isJson ? (
              <JsonField form={form} />
            ) : (
              <FieldList form={form} path="variables" draft={form.values.variables} level={0} />
            )}
          </section>
          <Paper
            className="save-bar"
            py="sm"
            radius={0}
            style={{ borderTop: '1px solid var(--mantine-color-default-border)', zIndex: 1 }}
          >
            <Stack gap="sm">
              <ProblemAlert error={review.error} />
              <Group gap="xs">
                <Button type="submit" loading={review.isPending}>
                  Review and save
                </Button>
                <Button variant="default" onClick={onCancel}>
                  Cancel
                </Button>
              </Group>
            </Stack>
          </Paper>
        </Stack>
      </form>
      {review.data && (
        <ReviewDialog
          change={review.data}
          base={base}
          // Also until the page of the definition is shown.
          pending={save.isPending || saved !== undefined}
          error={save.error}
          onClose={review.reset}
          onConfirm={(confirmation) => save.mutate({ draft: form.values, confirmation })}
        />
      )}
      <LeaveGuard active={isEdited} title="Leave without saving?" confirmLabel="Leave without saving">
        Your changes to this definition will be lost.
      </LeaveGuard>
    </>
  )
}

/** Switches between fields and JSON. What fields cannot express stays JSON. */
function JsonSwitch({ form }: { form: DraftForm }) {
  const { isJson, json, variables } = form.values
  function toggle(toJson: boolean) {
    if (toJson) {
      form.setValues({ isJson: true, json: jsonText(definedValue(variables)) })
      return
    }
    const fault = jsonFault(json)
    const fields = fault === undefined ? draftOf(JSON.parse(json)) : undefined
    if (fields) form.setValues({ isJson: false, variables: fields })
    else form.setFieldError('json', fault ?? 'This uses something that only JSON can show, so it stays JSON.')
  }
  return (
    <Switch label="Edit as JSON" checked={isJson} onChange={(event) => toggle(event.currentTarget.checked)} />
  )
}

function JsonField({ form }: { form: DraftForm }) {
  return (
    <Stack gap="xs">
      {draftOf(parsed(form.values.json)) === undefined && (
        <Text size="sm">
          The form cannot show everything that this definition says, for example a list of types. Edit it as
          JSON.
        </Text>
      )}
      <Textarea
        label="custom_variables as JSON Schema"
        description="A value of type object, in the part of JSON Schema 2020-12 that the API reference describes."
        autosize
        minRows={8}
        maxRows={30}
        spellCheck={false}
        styles={{ input: monospaceField }}
        {...form.getInputProps('json')}
      />
    </Stack>
  )
}

function parsed(json: string): unknown {
  return jsonFault(json) === undefined ? JSON.parse(json) : { type: 'object' }
}
