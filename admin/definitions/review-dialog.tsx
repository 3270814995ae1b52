import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Checkbox.css'
import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { InstantInput } from '../parts/instants/instant-input.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { instantOf, nativeText } from '../parts/instants/typed-instant.ts'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { Differences, isBreaking, verdictText } from './differences.tsx'
import { modes } from './mode.tsx'
import { Trial } from './trial.tsx'

/** What a person has confirmed, as it is sent. */
export type Confirmation = Pick<
  Schemas['EventDefinitionUpdate'],
  'confirm_breaking' | 'previous_accepted_until'
>

/** Shows what a dry run found, and asks for confirmation of a breaking change. */
export function ReviewDialog({
  change,
  base,
  pending,
  error,
  onClose,
  onConfirm,
}: {
  change: Schemas['EventDefinitionChange']
  /** The definition before; undefined for a new one. */
  base: Schemas['EventDefinition'] | undefined
  pending: boolean
  error: unknown
  onClose: () => void
  onConfirm: (confirmation: Confirmation) => void
}) {
  const { definition, trial } = change
  const isBreakingChange = isBreaking(change)
  const [isUnderstood, setIsUnderstood] = useState(false)
  const [until, setUntil] = useState('')
  const [isWrong, setIsWrong] = useState(false)

  function confirm() {
    const instant = instantOf(until)
    const isGood = until.trim() === '' || (instant !== undefined && instant > new Date())
    setIsWrong(!isGood)
    if (!isGood) return
    onConfirm({
      ...(isBreakingChange && { confirm_breaking: true }),
      ...(instant && { previous_accepted_until: instant.toISOString() }),
    })
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={
        base
          ? `Save the definition of ${visibleName(base.event_id)}?`
          : `Define ${visibleName(definition.event_id)}?`
      }
    >
      <Stack>
        {base && <Effect change={change} base={base} />}
        {trial && <Trial trial={trial} />}
        {trial && trial.not_conforming > 0 && definition.mode === 'enforce' && (
          <Text size="sm">From now on, such events are rejected.</Text>
        )}
        {isBreakingChange && base && (
          <Alert color="yellow" title="This is a breaking change">
            <Stack gap="sm">
              <Checkbox
                label="I understand that programs which send or read these events may have to change."
                checked={isUnderstood}
                onChange={(event) => setIsUnderstood(event.currentTarget.checked)}
              />
              <InstantInput
                type="datetime-local"
                label={`Accept events that conform to revision ${countText(definition.revision - 1)} until`}
                description="Optional. Gives senders time to change."
                min={nativeText(new Date(), 'datetime-local')}
                error={isWrong && 'Enter a time in the future such as 20 Nov 2026, 09:30'}
                value={until}
                chosen={instantOf(until)}
                onChoose={(instant) => setUntil(instantText(instant))}
                onChange={(event) => {
                  setIsWrong(false)
                  setUntil(event.currentTarget.value)
                }}
              />
            </Stack>
          </Alert>
        )}
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Back
          </Button>
          <Button loading={pending} disabled={isBreakingChange && !isUnderstood} onClick={confirm}>
            {base ? 'Save' : 'Define event'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Effect({
  change,
  base,
}: {
  change: Schemas['EventDefinitionChange']
  base: Schemas['EventDefinition']
}) {
  const { definition, changes } = change
  const mode = modes.find(({ value }) => value === definition.mode)
  return (
    <Stack gap="xs">
      {definition.revision > base.revision + 1 && (
        <Alert color="yellow" title="This definition was changed elsewhere">
          Since you started editing, somebody saved revision {countText(definition.revision - 1)}. The changes
          below are compared with it.
        </Alert>
      )}
      {definition.mode !== base.mode && mode && (
        <Text size="sm">
          <strong>The mode becomes {mode.label}.</strong> {mode.meaning}
        </Text>
      )}
      {definition.revision !== base.revision && (
        <>
          <Text size="sm">
            <strong>This becomes revision {countText(definition.revision)}.</strong> {verdictText(change)}
          </Text>
          <Differences changes={changes} />
        </>
      )}
    </Stack>
  )
}
