import '../parts/forms/save-bar.css'
import { Alert, Button, Group, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { LeaveGuard } from '../parts/forms/leave-guard.tsx'
import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { fieldErrors, taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import {
  carriedOver,
  draftOfJourney,
  fieldsToDecide,
  type JourneyDraft,
  journeyChanges,
  journeyFaults,
} from './journey-draft.ts'
import { useReceivedNames } from './received-names.ts'

/** Drag and drop and autocomplete are more code than the rest of the form, which does not wait for them. */
const StepList = onDemand(
  () => import('./step-list.tsx').then((module) => module.StepList),
  ({ form }) => <Loading lines={3 * Math.max(form.values.steps.length, 1)} />,
)

/**
 * Edits name, description and steps. Only changed fields are sent. If somebody else changes the journey meanwhile, nothing is
 * saved until the person here has seen that.
 *
 * `journey` is the newest known version; it may be replaced by a newer one at any time.
 */
export function JourneyForm({ journey }: { journey: Schemas['Journey'] }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const journeysKey = useWorkspaceKey('journeys')
  const journeyKey = useWorkspaceKey('journeys', journey.journey_id)
  /** The version that the draft is based on. */
  const [base, setBase] = useState(journey)
  const form = useForm<JourneyDraft>({
    initialValues: draftOfJourney(journey),
    validate: (draft) => journeyFaults(draft, base),
  })
  const changes = journeyChanges(base, form.values)
  const isEdited = Object.keys(changes).length > 0
  const newer = journey.updated_at > base.updated_at ? journey : undefined
  const changedElsewhere = newer ? fieldsToDecide(base, newer, form.values) : []
  const mustDecide = isEdited && changedElsewhere.length > 0
  const received = useReceivedNames(journey.journey_id)
  const keepButton = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (newer && !mustDecide) takeOver(newer)
  })

  useEffect(() => {
    // The save bar may now cover the field in which somebody has started to type.
    if (isEdited) document.activeElement?.scrollIntoView({ block: 'nearest' })
  }, [isEdited])

  function takeOver(version: Schemas['Journey']) {
    form.setValues(carriedOver(form.values, base, version))
    setBase(version)
  }

  function discard() {
    const version = newer ?? base
    form.setValues(draftOfJourney(version))
    form.clearErrors()
    setBase(version)
    save.reset()
  }

  const save = useMutation({
    mutationFn: async (body: Schemas['JourneyUpdate']) => {
      const path = { journey_id: journey.journey_id }
      // A read in progress would replace this change with the version before it.
      await queryClient.cancelQueries({ queryKey: journeyKey })
      // The contract has no preconditions (If-Match): only reading detects what was saved elsewhere since the last read.
      const current = await taken(cairn.getJourney({ path }))
      const isStale =
        current.updated_at > base.updated_at && fieldsToDecide(base, current, form.values).length > 0
      if (isStale) return { version: current, isSaved: false }
      return { version: await taken(cairn.updateJourney({ path, body })), isSaved: true }
    },
    onSuccess: ({ version, isSaved }) => {
      queryClient.setQueryData(journeyKey, version)
      if (!isSaved) return
      setBase(version)
      form.clearErrors()
      void queryClient.invalidateQueries({ queryKey: journeysKey })
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  })

  return (
    <form
      noValidate
      onSubmit={form.onSubmit(
        () => {
          if (mustDecide) keepButton.current?.focus()
          else if (isEdited) save.mutate(changes)
        },
        (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
      )}
    >
      <Stack gap="lg">
        <Stack maw={640}>
          <TextInput label="Name" autoComplete="off" withAsterisk {...form.getInputProps('name')} />
          <Textarea
            label="Description"
            description="Optional. Explains the journey to your colleagues."
            autosize
            minRows={2}
            maxRows={12}
            {...form.getInputProps('description')}
          />
        </Stack>
        <section aria-labelledby="steps-heading">
          <Title order={2} size="h4" id="steps-heading">
            Steps
          </Title>
          <Text size="sm" mb="sm">
            The events of the funnel, in order. Timelines show steps by their display names. The journey also
            accepts events with any other event_id. Changing the steps does not change stored events; the
            report is recalculated.
          </Text>
          <StepList form={form} received={received} />
        </section>
        {/* Sticky while there are unsaved changes, however long the list of steps is. */}
        <Paper
          className={isEdited ? 'save-bar' : undefined}
          py="sm"
          radius={0}
          style={{ borderTop: '1px solid var(--mantine-color-default-border)', zIndex: 1 }}
        >
          <Stack gap="sm">
            {mustDecide && (
              <Alert role="alert" color="yellow" title="This journey was changed elsewhere">
                <Text size="sm" mb="sm">
                  Since you started editing, somebody saved another version (changed:{' '}
                  {listFormat.format(changedElsewhere)}
                  ). Your changes are not saved yet. Keep them on top of the newer version, or discard them.
                </Text>
                <Group>
                  <Button ref={keepButton} variant="default" onClick={() => newer && takeOver(newer)}>
                    Keep my changes
                  </Button>
                  <Button variant="default" onClick={discard}>
                    Discard my changes
                  </Button>
                </Group>
              </Alert>
            )}
            <ProblemAlert error={isEdited ? save.error : null} />
            <Group gap="xs">
              <Button type="submit" loading={save.isPending}>
                Save changes
              </Button>
              {isEdited && (
                <Button variant="default" onClick={discard}>
                  Discard changes
                </Button>
              )}
              <Text size="sm" role="status">
                {isEdited ? 'Unsaved changes.' : save.data?.isSaved ? 'Saved.' : 'No changes.'}
              </Text>
            </Group>
          </Stack>
        </Paper>
      </Stack>
      <LeaveGuard active={isEdited} title="Leave without saving?" confirmLabel="Leave without saving">
        Your unsaved changes to this journey will be lost.
      </LeaveGuard>
    </form>
  )
}

const listFormat = new Intl.ListFormat('en')
