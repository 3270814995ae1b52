import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import '@mantine/core/styles/Switch.css'
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { useFocusNext } from '../parts/forms/focus-next.ts'
import { monospaceField } from '../parts/forms/monospace-field.ts'
import { isolated } from '../parts/visible-name.ts'
import type { DraftForm } from './definition-draft.ts'
import {
  boundsOf,
  definedValue,
  emptyField,
  emptyItem,
  type FieldDraft,
  fieldLimit,
  hasAllowedValues,
  type Kind,
  kinds,
  levelLimit,
  type ValueDraft,
} from './value-draft.ts'
import { ruleTexts } from './value-words.ts'

type ValueProps = {
  form: DraftForm
  /** Of the value in the form: `variables.fields.0`. */
  path: string
  /** How deep the value is nested; 0 for `custom_variables`. */
  level: number
}

/** Edits the fields of an object: add, remove, and what each of them can be. */
export function FieldList({
  form,
  path,
  draft,
  level,
  of,
}: ValueProps & { draft: ValueDraft /** The name of a nested object. */; of?: string }) {
  const { fields } = draft
  const listId = useId()
  const focusNext = useFocusNext()

  function add() {
    const field = emptyField()
    form.insertListItem(`${path}.fields`, field)
    focusNext(`${listId}-${field.key}-name`)
  }

  function remove(index: number) {
    const neighbour = fields[index + 1] ?? fields[index - 1]
    form.removeListItem(`${path}.fields`, index)
    focusNext(neighbour ? `${listId}-${neighbour.key}-remove` : `${listId}-add`)
  }

  return (
    <Stack gap="sm">
      {fields.length > 0 && (
        <Stack component="ul" gap="sm" m={0} p={0} aria-label={of ? `Fields of ${of}` : 'Fields'}>
          {fields.map((field, index) => (
            <Field
              key={field.key}
              form={form}
              path={`${path}.fields.${index}`}
              level={level + 1}
              field={field}
              id={`${listId}-${field.key}`}
              onRemove={() => remove(index)}
            />
          ))}
        </Stack>
      )}
      <Group>
        <Button
          id={`${listId}-add`}
          aria-label={of && `Add field to ${of}`}
          variant="default"
          size="xs"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={fields.length >= fieldLimit}
          onClick={add}
        >
          Add field
        </Button>
        <Switch
          label="Other fields are allowed"
          aria-label={of && `Other fields are allowed in ${of}`}
          {...form.getInputProps(`${path}.isOpen`, { type: 'checkbox' })}
        />
      </Group>
    </Stack>
  )
}

function Field({
  form,
  path,
  level,
  field,
  id,
  onRemove,
}: ValueProps & { field: FieldDraft; id: string; onRemove: () => void }) {
  const name = isolated(field.name) || 'this field'
  return (
    <Paper component="li" withBorder p="sm" style={{ listStyle: 'none' }}>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput
            id={`${id}-name`}
            label="Field"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            flex="1 1 12rem"
            styles={{ input: monospaceField }}
            {...form.getInputProps(`${path}.name`)}
          />
          <KindSelect
            label="Type"
            of={name}
            level={level}
            kind={field.kind}
            onChange={(kind) => form.setFieldValue(`${path}.kind`, kind)}
          />
          <Group gap="sm" wrap="nowrap" mt={{ base: 0, xs: 28 }} h={36}>
            <Checkbox
              label="Required"
              aria-label={`Required: ${name}`}
              {...form.getInputProps(`${path}.isRequired`, { type: 'checkbox' })}
            />
            <ActionIcon
              id={`${id}-remove`}
              variant="subtle"
              color="gray"
              aria-label={`Remove ${name}`}
              onClick={onRemove}
            >
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
        <ValueParts form={form} path={path} level={level} draft={field} name={name} />
      </Stack>
    </Paper>
  )
}

function KindSelect({
  label,
  of,
  level,
  kind,
  onChange,
}: {
  label: string
  /** The name of the field. */
  of: string
  level: number
  kind: Kind
  onChange: (kind: Kind) => void
}) {
  const isDeepest = level >= levelLimit
  const offered = kinds.filter(
    ({ value }) => !isDeepest || !['object', 'array'].includes(value) || value === kind,
  )
  return (
    <NativeSelect
      label={label}
      aria-label={`${label} of ${of}`}
      w="10rem"
      data={[...offered]}
      value={kind}
      onChange={(event) => onChange(event.currentTarget.value as Kind)}
    />
  )
}

/** What is inside of a value, and its details behind a button. */
function ValueParts({ form, path, level, draft, name }: ValueProps & { draft: ValueDraft; name: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const detailsId = useId()
  const parts = ['description', 'allowed', 'least', 'most']
  const isFaulty = parts.some((part) => form.errors[`${path}.${part}`])
  const isShown = isOpen || isFaulty
  const Chevron = isShown ? IconChevronDown : IconChevronRight
  const { items: _, ...own } = definedValue(draft)
  const summary = [isolated(draft.description), ...ruleTexts(own)].filter(Boolean).join(' · ')
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          style={{ flexShrink: 0 }}
          leftSection={<Chevron size={16} aria-hidden />}
          aria-expanded={isShown}
          aria-controls={isShown ? detailsId : undefined}
          aria-label={`Details of ${name}`}
          onClick={() => setIsOpen(!isShown)}
        >
          Details
        </Button>
        {!isShown && (
          <Text size="sm" truncate title={summary}>
            {summary}
          </Text>
        )}
      </Group>
      {isShown && (
        <div id={detailsId}>
          <Details form={form} path={path} draft={draft} />
        </div>
      )}
      {draft.kind === 'array' && (
        <Nested>
          <KindSelect
            label="Each item"
            of={name}
            level={level + 1}
            kind={draft.item?.kind ?? 'any'}
            onChange={(kind) => form.setFieldValue(`${path}.item`, { ...(draft.item ?? emptyItem()), kind })}
          />
          {draft.item && (
            <ValueParts
              form={form}
              path={`${path}.item`}
              level={level + 1}
              draft={draft.item}
              name={`each item of ${name}`}
            />
          )}
        </Nested>
      )}
      {draft.kind === 'object' && (
        <Nested>
          <FieldList form={form} path={path} draft={draft} level={level} of={name} />
        </Nested>
      )}
    </>
  )
}

function Nested({ children }: { children: ReactNode }) {
  return (
    <Stack gap="sm" pl="sm" style={{ borderInlineStart: '2px solid var(--mantine-color-default-border)' }}>
      {children}
    </Stack>
  )
}

function Details({ form, path, draft: { kind } }: Pick<ValueProps, 'form' | 'path'> & { draft: ValueDraft }) {
  const [least, most] = boundsOf(kind) ?? []
  const unit = { minLength: ' length', minimum: '', minItems: ' number of items' }[String(least)] ?? ''
  return (
    <Stack gap="sm">
      <TextInput label="Description" autoComplete="off" {...form.getInputProps(`${path}.description`)} />
      {hasAllowedValues(kind) && (
        <TagsInput
          label="Allowed values"
          description="Enter each value and press Enter. Leave empty to allow all."
          splitChars={[]}
          styles={{ input: { fontFamily: monospaceField.fontFamily } }}
          {...form.getInputProps(`${path}.allowed`)}
        />
      )}
      {least && most && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={`Minimum${unit}`}
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps(`${path}.least`)}
          />
          <TextInput
            label={`Maximum${unit}`}
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps(`${path}.most`)}
          />
        </SimpleGrid>
      )}
      <Checkbox
        label="Deprecated: senders should stop using it"
        {...form.getInputProps(`${path}.isDeprecated`, { type: 'checkbox' })}
      />
    </Stack>
  )
}
