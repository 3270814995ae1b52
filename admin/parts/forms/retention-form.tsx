import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { taken } from '../../problem.ts'
import { useCairn } from '../../session/session.ts'
import { ConfirmDialog } from '../confirm-dialog.tsx'
import { Instant } from '../instants/instant.tsx'
import { countOf, countText } from '../number-text.ts'
import { ProblemAlert } from '../problem-alert.tsx'

const maxDays = 36_500

type Days = number | null

/** Edits the event retention. If events would be deleted it shows how many, and asks for confirmation. */
export function RetentionForm({
  days,
  journeyId,
  empty = 'keep events forever',
  save,
  onSaved,
}: {
  /** The current value; null: events are kept forever. */
  days: Days
  /** Omitted for the whole workspace. */
  journeyId?: string
  /** What an empty field does, after “Leave empty to”. */
  empty?: string
  save: (days: Days) => Promise<unknown>
  onSaved: (days: Days) => void
}) {
  const cairn = useCairn()
  const [typed, setTyped] = useState(textOf(days))
  /** What is saved, as far as is known: a save is known before `days` has been read again. */
  const [saved, setSaved] = useState(days)
  const [read, setRead] = useState(days)
  if (days !== read) {
    // Somebody else may have changed it. What is being typed stays.
    if (typed === textOf(saved)) setTyped(textOf(days))
    setRead(days)
    setSaved(days)
  }
  const [isFaulty, setIsFaulty] = useState(false)
  const saving = useMutation({
    mutationFn: save,
    onSuccess: (_, chosen) => {
      preview.reset()
      setSaved(chosen)
      onSaved(chosen)
    },
  })
  const preview = useMutation({
    mutationFn: (retention_days: number) => {
      const query = { retention_days, ...(journeyId !== undefined && { journey_id: journeyId }) }
      return taken(cairn.getRetentionPreview({ query }))
    },
  })

  function submit(event: FormEvent) {
    event.preventDefault()
    preview.reset()
    saving.reset()
    const chosen = daysOf(typed)
    setIsFaulty(chosen === undefined)
    if (chosen === undefined || chosen === saved) return
    // A longer retention deletes nothing.
    if (chosen === null || (saved !== null && chosen > saved)) saving.mutate(chosen)
    else preview.mutate(chosen)
  }

  const { data, variables: chosen = 0 } = preview
  return (
    <form noValidate onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Keep events for (days)"
          description={`Counted from when an event was received. Leave empty to ${empty}.`}
          inputMode="numeric"
          autoComplete="off"
          maw={320}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={isFaulty && `Enter a whole number from 1 to ${countText(maxDays)}, or leave the field empty`}
        />
        <ProblemAlert error={data ? null : (preview.error ?? saving.error)} />
        <Group>
          <Button type="submit" variant="default" loading={preview.isPending || (saving.isPending && !data)}>
            Save retention
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={data !== undefined}
        onClose={preview.reset}
        title={`Keep events for ${countOf(chosen, 'day')}?`}
        confirmLabel={`Keep for ${countOf(chosen, 'day')}`}
        danger
        pending={saving.isPending}
        error={saving.error}
        onConfirm={() => saving.mutate(chosen)}
      >
        {data && (
          <Text size="sm">
            {data.more_events && 'More than '}
            {countOf(data.events, 'event')} received before <Instant at={data.before} /> will be permanently
            deleted, and from now on all events that reach this age. Reports count only the events that are
            left.
          </Text>
        )}
      </ConfirmDialog>
    </form>
  )
}

function textOf(days: Days): string {
  return days === null ? '' : String(days)
}

/** @returns undefined if it is not a valid number of days */
function daysOf(typed: string): Days | undefined {
  const text = typed.trim()
  if (text === '') return null
  const days = Number(text)
  return /^\d+$/.test(text) && days >= 1 && days <= maxDays ? days : undefined
}
