import type { useForm } from '@mantine/form'
import type { Schemas } from '../../client/person.ts'
import { descriptionFault, nameFault, onlyFaults } from '../parts/forms/field-faults.ts'
import {
  type DefinedValue,
  definedValue,
  draftOf,
  emptyVariables,
  isRecord,
  isSameValue,
  type ValueDraft,
  valueFaults,
} from './value-draft.ts'

type Definition = Schemas['EventDefinition']

/** The values of the form of a definition. */
export type DefinitionDraft = {
  event_id: string
  description: string
  mode: Schemas['DefinitionMode']
  /** Whether `json` is edited instead of `variables`. */
  isJson: boolean
  variables: ValueDraft
  json: string
}

/** The part of the form that its inputs use. */
export type DraftForm = Pick<
  ReturnType<typeof useForm<DefinitionDraft>>,
  | 'values'
  | 'errors'
  | 'getInputProps'
  | 'setValues'
  | 'setFieldValue'
  | 'setFieldError'
  | 'insertListItem'
  | 'removeListItem'
>

export function newDefinitionDraft(event_id: string): DefinitionDraft {
  const variables = emptyVariables()
  return { event_id, description: '', mode: 'warn', isJson: false, variables, json: '' }
}

export function draftOfDefinition({ event_id, description, mode, variables }: Definition): DefinitionDraft {
  return { event_id, description, mode, ...variablesDraft(variables) }
}

/** Variables as fields if fields can express them, otherwise as JSON. */
export function variablesDraft(
  variables: DefinedValue,
): Pick<DefinitionDraft, 'isJson' | 'variables' | 'json'> {
  const fields = draftOf(variables)
  if (fields) return { isJson: false, variables: fields, json: '' }
  return { isJson: true, variables: emptyVariables(), json: jsonText(variables) }
}

/** JSON for people. */
export function jsonText(variables: DefinedValue): string {
  return JSON.stringify(variables, undefined, 2)
}

/** What the contract would reject, by the path of the input. */
export function definitionFaults(draft: DefinitionDraft): Record<string, string> {
  return onlyFaults({
    event_id: nameFault(draft.event_id, 'Enter the event_id, as your application sends it.'),
    description: descriptionFault(draft.description),
    ...(draft.isJson ? { json: jsonFault(draft.json) } : valueFaults(draft.variables, 'variables')),
  })
}

/** Why a text is not JSON of an object. */
export function jsonFault(json: string): string | undefined {
  try {
    return isRecord(JSON.parse(json)) ? undefined : 'Enter a JSON object.'
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : ''}`
  }
}

/** The variables as they are sent. Only of a draft without faults. */
function sentVariables({ isJson, json, variables }: DefinitionDraft): DefinedValue {
  return isJson ? JSON.parse(json) : definedValue(variables)
}

/** The request body to create this definition. */
export function definitionCreation(draft: DefinitionDraft): Schemas['EventDefinitionCreation'] {
  const { event_id, description, mode } = draft
  return { event_id, description, mode, variables: sentVariables(draft) }
}

/** The changed fields, as they are sent. */
export function definitionChanges(
  base: Definition,
  draft: DefinitionDraft,
): Schemas['EventDefinitionUpdate'] {
  const { description, mode } = draft
  const variables = sentVariables(draft)
  return {
    ...(description !== base.description && { description }),
    ...(mode !== base.mode && { mode }),
    ...(!isSameValue(variables, base.variables) && { variables }),
  }
}
