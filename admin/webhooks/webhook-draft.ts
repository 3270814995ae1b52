import type { Schemas } from '../../client/person.ts'
import { lengthFault, onlyFaults } from '../parts/forms/field-faults.ts'
import { durationOf, durationText, lengthOf } from '../parts/instants/duration-text.ts'
import { codeOf, fieldErrors, ProblemError } from '../problem.ts'

type Webhook = Schemas['Webhook']

/** A webhook as the form edits it. */
export type WebhookDraft = {
  url: string
  description: string
  types: Schemas['WebhookType'][]
  /** Empty for all. */
  journey_ids: string[]
  /** Empty for all. */
  event_ids: string[]
  /** As it is typed: `7 d`. */
  dropped_after: string
}

export const newWebhookDraft: WebhookDraft = {
  url: '',
  description: '',
  types: ['event.created'],
  journey_ids: [],
  event_ids: [],
  dropped_after: '7 d',
}

export function draftOfWebhook(webhook: Webhook): WebhookDraft {
  const { url, description, types, journey_ids, event_ids, dropped_after } = webhook
  return {
    url,
    description,
    types,
    journey_ids: journey_ids ?? [],
    event_ids: event_ids ?? [],
    dropped_after: dropped_after === null ? newWebhookDraft.dropped_after : windowText(dropped_after),
  }
}

/** `P7D` as `7d`; a duration of more than two units as it is, because it would be rounded. */
export function windowText(duration: string): string {
  const length_ms = lengthOf(duration)
  const text = length_ms && durationText(length_ms)
  return text && lengthOf(durationOf(text) ?? '') === length_ms ? text : duration
}

/** Whether a filter or a field concerns the chosen types. */
export function concerns({ types }: Pick<WebhookDraft, 'types'>) {
  return {
    journeys: types.some((type) => type === 'event.created' || type.startsWith('journey.')),
    events: types.includes('event.created'),
    window: types.includes('journey.dropped'),
  }
}

/** What the contract would reject, by field. */
export function webhookFaults(draft: WebhookDraft): Record<string, string> {
  const { url, description, types, dropped_after } = draft
  return onlyFaults({
    url: urlFault(url),
    description: lengthFault(description, 500),
    types: types.length === 0 ? 'Choose at least one.' : undefined,
    dropped_after:
      concerns(draft).window && !durationOf(dropped_after)
        ? 'Enter a duration such as 7 d or 36 h.'
        : undefined,
  })
}

function urlFault(url: string): string | undefined {
  if (!url) return 'Enter the URL that receives the messages.'
  if (!/^https?:\/\/[^\s@#]+$/.test(url) || !URL.canParse(url)) {
    return 'Enter an https URL without user name, password and fragment.'
  }
  return lengthFault(url, 2048)
}

/** The fields as they are sent. Filters that concern none of the types are left out. */
export function webhookBody(draft: WebhookDraft): Schemas['WebhookCreation'] {
  const { url, description, types, journey_ids, event_ids, dropped_after } = draft
  const { journeys, events, window } = concerns(draft)
  return {
    url,
    description,
    types,
    journey_ids: journeys && journey_ids.length > 0 ? journey_ids : null,
    event_ids: events && event_ids.length > 0 ? event_ids : null,
    dropped_after: window ? (durationOf(dropped_after) ?? null) : null,
  }
}

/** The changed fields, as they are sent. */
export function webhookChanges(initial: WebhookDraft, draft: WebhookDraft): Schemas['WebhookUpdate'] {
  const [before, after] = [webhookBody(initial), webhookBody(draft)]
  // Also by the draft: a stored filter that the former types left out may be emptied now that it concerns them.
  const isChanged = (name: keyof WebhookDraft) =>
    !isSame(before[name], after[name]) || !isSame(initial[name], draft[name])
  return {
    ...(isChanged('url') && { url: after.url }),
    ...(isChanged('description') && { description: draft.description }),
    ...(isChanged('types') && { types: after.types }),
    ...(isChanged('journey_ids') && { journey_ids: after.journey_ids ?? null }),
    ...(isChanged('event_ids') && { event_ids: after.event_ids ?? null }),
    ...(isChanged('dropped_after') && { dropped_after: after.dropped_after ?? null }),
  }
}

/** In lists the order does not matter. */
function isSame(one: unknown, other: unknown): boolean {
  const [a, b] = [one, other].map((value) => JSON.stringify(Array.isArray(value) ? value.toSorted() : value))
  return a === b
}

/** The server's errors, by field of the form. */
export function webhookErrors(error: unknown): Record<string, string> {
  const errors: Record<string, string> = {}
  // An error at one of the items of a field is shown at the field.
  for (const [field, fault] of Object.entries(fieldErrors(error))) errors[field.split('.')[0] ?? ''] ??= fault
  const field = fieldsOfCodes[codeOf(error) ?? '']
  if (field && error instanceof ProblemError) errors[field] = error.problem.detail
  return errors
}

/** The fields of which the problem is about. */
const fieldsOfCodes: Partial<Record<string, keyof WebhookDraft>> = {
  webhook_url_not_allowed: 'url',
  dropped_after_missing: 'dropped_after',
}
