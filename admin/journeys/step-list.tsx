import {
  DragDropContext,
  Draggable,
  type DraggableProvidedDraggableProps,
  type DraggableProvidedDragHandleProps,
  type DraggableStateSnapshot,
  Droppable,
} from '@hello-pangea/dnd'
import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core'
import type { useForm } from '@mantine/form'
import { useReducedMotion } from '@mantine/hooks'
import { IconArrowDown, IconArrowUp, IconGripVertical, IconPlus, IconTrash } from '@tabler/icons-react'
import { type CSSProperties, type Ref, useEffect, useId, useState } from 'react'
import { stepLimit } from '../parts/forms/field-faults.ts'
import { useFocusNext } from '../parts/forms/focus-next.ts'
import { monospaceField } from '../parts/forms/monospace-field.ts'
import { Relative } from '../parts/instants/instant.tsx'
import { countOf } from '../parts/number-text.ts'
import { emptyStep, type JourneyDraft, type StepDraft } from './journey-draft.ts'
import type { ReceivedName, ReceivedNames } from './received-names.ts'

/**
 * Edits the steps of a journey: add, remove, and reorder by dragging, by the arrow keys on a grabbed handle, or by the up and
 * down buttons. Changes are announced and the focus follows the step. Received event names are suggested.
 */
export function StepList({ form, received }: { form: Form; received: ReceivedNames }) {
  const { steps } = form.values
  const listId = useId()
  const isMotionReduced = useReducedMotion()
  const [announcement, setAnnouncement] = useState('')
  const focusNext = useFocusNext()

  const elementId = (step: StepDraft, part: StepElement) => `${listId}-${step.key}-${part}`

  function add() {
    const step = emptyStep()
    form.insertListItem('steps', step)
    focusNext(elementId(step, 'event_id'))
  }

  function remove(index: number, step: StepDraft) {
    const neighbour = steps[index + 1] ?? steps[index - 1]
    form.removeListItem('steps', index)
    setAnnouncement(`${nameOf(step, index)} removed.`)
    focusNext(neighbour ? elementId(neighbour, 'remove') : `${listId}-add`)
  }

  function move(from: number, to: number, step: StepDraft, focus: StepElement) {
    if (to < 0 || to >= steps.length) return
    form.reorderListItem('steps', { from, to })
    setAnnouncement(`${nameOf(step, from)} is now step ${to + 1} of ${steps.length}.`)
    focusNext(elementId(step, focus))
  }

  return (
    <Stack>
      <DragDropContext
        dragHandleUsageInstructions="Press Space to grab the step, the arrow keys to move it, Space again to drop it, or Escape to cancel."
        onDragStart={({ source: { index } }, { announce }) => {
          const step = steps[index]
          if (step) announce(`Grabbed ${nameOf(step, index)}, step ${index + 1} of ${steps.length}.`)
        }}
        onDragUpdate={({ destination }, { announce }) =>
          announce(
            destination
              ? `Moved to step ${destination.index + 1} of ${steps.length}.`
              : 'Outside of the list.',
          )
        }
        onDragEnd={({ source, destination, reason }, { announce }) => {
          const step = steps[source.index]
          if (!step) return
          const name = nameOf(step, source.index)
          if (reason === 'CANCEL' || !destination)
            announce(`Canceled. ${name} is still step ${source.index + 1}.`)
          else announce(`${name} is now step ${destination.index + 1} of ${steps.length}.`)
          if (destination && destination.index !== source.index) {
            form.reorderListItem('steps', { from: source.index, to: destination.index })
          }
        }}
      >
        <Droppable droppableId={listId}>
          {(list) => (
            <ol ref={list.innerRef} {...list.droppableProps} aria-label="Steps" style={listStyle}>
              {steps.map((step, index) => (
                <Draggable key={step.key} draggableId={step.key} index={index}>
                  {(item, snapshot) => (
                    <StepItem
                      ref={item.innerRef}
                      draggableProps={item.draggableProps}
                      style={motionStyle(item.draggableProps.style, snapshot, isMotionReduced)}
                      dragHandleProps={item.dragHandleProps}
                      isDragging={snapshot.isDragging}
                      isDropping={snapshot.isDropAnimating}
                      form={form}
                      received={received}
                      suggestions={unusedNames(received, steps, index)}
                      index={index}
                      count={steps.length}
                      name={nameOf(step, index)}
                      elementId={(part) => elementId(step, part)}
                      onMove={(to, focus) => move(index, to, step, focus)}
                      onRemove={() => remove(index, step)}
                    />
                  )}
                </Draggable>
              ))}
              {list.placeholder}
            </ol>
          )}
        </Droppable>
      </DragDropContext>
      {steps.length < stepLimit ? (
        <Group>
          <Button
            id={`${listId}-add`}
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={add}
          >
            Add step
          </Button>
        </Group>
      ) : (
        <Text size="sm">A journey has at most {stepLimit} steps.</Text>
      )}
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
    </Stack>
  )
}

/** The used part of the form. */
type Form = Pick<
  ReturnType<typeof useForm<JourneyDraft>>,
  'values' | 'getInputProps' | 'insertListItem' | 'removeListItem' | 'reorderListItem'
>

/** Longer than any transition of the library. */
const DROP_MS = 600

/** The focusable parts of a step. */
type StepElement = 'event_id' | 'up' | 'down' | 'remove'

type StepItemProps = {
  ref: Ref<HTMLLIElement>
  draggableProps: DraggableProvidedDraggableProps
  style: CSSProperties | undefined
  dragHandleProps: DraggableProvidedDragHandleProps | null
  isDragging: boolean
  /** Whether it moves to its place after it was dropped. */
  isDropping: boolean
  form: Form
  received: ReceivedNames
  /** Suggested event names. */
  suggestions: string[]
  index: number
  count: number
  name: string
  elementId: (part: StepElement) => string
  onMove: (to: number, focus: StepElement) => void
  onRemove: () => void
}

function StepItem(props: StepItemProps) {
  const { ref, draggableProps, dragHandleProps, form, received, index, count, name, elementId } = props
  const { onMove, onRemove, isDropping } = props
  const number = index + 1
  const removeId = elementId('remove')
  // The library waits for a transition to end, but a browser may cancel it, and then it would wait forever.
  useEffect(() => {
    if (!isDropping) return
    const end = new TransitionEvent('transitionend', { propertyName: 'transform', bubbles: true })
    const timer = setTimeout(() => document.getElementById(removeId)?.dispatchEvent(end), DROP_MS)
    return () => clearTimeout(timer)
  }, [isDropping, removeId])
  return (
    <li ref={ref} {...draggableProps} style={props.style}>
      <Paper withBorder p="sm" mb="sm" shadow={props.isDragging ? 'md' : ''}>
        <Group justify="space-between" mb="xs" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            {/* Not a button element: dragging cannot start on one. */}
            <ActionIcon
              component="div"
              variant="subtle"
              color="gray"
              aria-label={`Drag ${name}`}
              style={{ cursor: 'grab' }}
              {...dragHandleProps}
            >
              <IconGripVertical size={18} aria-hidden />
            </ActionIcon>
            <Text size="sm" fw={500}>
              Step {number}
            </Text>
          </Group>
          <Group gap={4} wrap="nowrap">
            <ActionIcon
              {...buttonProps}
              id={elementId('up')}
              aria-label={`Move ${name} up`}
              {...idle(index === 0)}
              onClick={() => onMove(index - 1, 'up')}
            >
              <IconArrowUp size={18} aria-hidden />
            </ActionIcon>
            <ActionIcon
              {...buttonProps}
              id={elementId('down')}
              aria-label={`Move ${name} down`}
              {...idle(number === count)}
              onClick={() => onMove(index + 1, 'down')}
            >
              <IconArrowDown size={18} aria-hidden />
            </ActionIcon>
            <ActionIcon
              {...buttonProps}
              id={elementId('remove')}
              aria-label={`Remove ${name}`}
              onClick={onRemove}
            >
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <Autocomplete
            label={`event_id of step ${number}`}
            description="As sent by programs, for example signed_up."
            data={props.suggestions}
            // Within the page's landmarks.
            comboboxProps={{ withinPortal: false }}
            withScrollArea={false}
            renderOption={({ option: { value } }) => (
              <ReceivedOption name={value} received={received.get(value)} />
            )}
            autoCapitalize="off"
            autoComplete="off"
            spellCheck={false}
            styles={{
              input: { ...inSight, ...monospaceField },
              options: { maxHeight: 220, overflowY: 'auto' },
            }}
            {...form.getInputProps(`steps.${index}.event_id`)}
            id={elementId('event_id')}
          />
          <TextInput
            label={`Display name of step ${number}`}
            description="Shown in reports, for example Signed up."
            autoComplete="off"
            styles={{ input: inSight }}
            {...form.getInputProps(`steps.${index}.name`)}
          />
        </SimpleGrid>
      </Paper>
    </li>
  )
}

/** A received event name: how often, and when most recently. */
function ReceivedOption({ name, received }: { name: string; received: ReceivedName | undefined }) {
  return (
    <div>
      <Text size="sm" ff="monospace" className="breakable">
        {name}
      </Text>
      {received && (
        <Text size="xs">
          {countOf(received.count, 'event')}, last{' '}
          <Relative instant={new Date(received.last_at)} within_ms={Infinity} />
        </Text>
      )}
    </div>
  )
}

/** The received names that no other step has. */
function unusedNames(received: ReceivedNames, steps: StepDraft[], place: number): string[] {
  const used = new Set(steps.filter((_, index) => index !== place).map(({ event_id }) => event_id))
  return [...received.keys()].filter((name) => !used.has(name))
}

const listStyle = { listStyle: 'none', margin: 0, padding: 0 } satisfies CSSProperties

/** Scrolls a focused element above the save bar at the end of the form. */
const inSight = { scrollMarginBottom: '8rem' } satisfies CSSProperties

const buttonProps = { variant: 'subtle', color: 'gray', style: inSight } as const

/** For a button that is disabled but keeps the focus. */
function idle(isIdle: boolean) {
  return isIdle ? { 'aria-disabled': true, 'data-disabled': true } : {}
}

function nameOf({ name, event_id }: StepDraft, index: number): string {
  return name || event_id || `step ${index + 1}`
}

function motionStyle(
  style: CSSProperties | undefined,
  { isDropAnimating, isDragging }: DraggableStateSnapshot,
  isMotionReduced: boolean,
): CSSProperties | undefined {
  if (!isMotionReduced) return style
  // Not 0: the library waits for the transition to end before it drops.
  return {
    ...style,
    ...(isDropAnimating ? { transitionDuration: '0.001s' } : !isDragging && { transition: 'none' }),
  }
}
