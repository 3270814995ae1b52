import type { Schemas } from '../../client/person.ts'
import { givenNameFault, onlyFaults } from '../parts/forms/field-faults.ts'
import { day_ms } from '../parts/instants/lengths.ts'
import { instantOf } from '../parts/instants/typed-instant.ts'
import { codeOf, fieldErrors } from '../problem.ts'

type ServiceKey = Schemas['ServiceKey']

/** The values of the form of a service key. */
export type KeyDraft = {
  name: string
  allowed_origins: string[]
  /** When the key expires: unchanged, never, in a number of days, or on `expiryDate`. */
  expiry: 'unchanged' | 'never' | '30' | '90' | '365' | 'date'
  /** A day in the viewer's time zone as typed, `31 Jan 2027`; the key expires at its start. */
  expiryDate: string
  rate: 'default' | 'own' | 'unlimited'
  /** With `own`: events per second. A string while the typed text is not a number. */
  ratePerSecond: number | string
}

export const newKeyDraft: KeyDraft = {
  name: '',
  allowed_origins: [],
  expiry: 'never',
  expiryDate: '',
  rate: 'default',
  ratePerSecond: 500,
}

export function draftOfKey({ name, allowed_origins, expires_at, rate_limit }: ServiceKey): KeyDraft {
  return {
    ...newKeyDraft,
    name,
    allowed_origins,
    expiry: expires_at ? 'unchanged' : 'never',
    rate: rate_limit === null ? 'default' : rate_limit === 0 ? 'unlimited' : 'own',
    ratePerSecond: rate_limit || newKeyDraft.ratePerSecond,
  }
}

/** What the contract would reject, by field. An unchanged name is valid, even if it predates the rules for names. */
export function keyFaults(draft: KeyDraft, edited?: ServiceKey): Record<string, string> {
  const { name, allowed_origins, expiry, rate, ratePerSecond } = draft
  const faults = {
    name:
      name === edited?.name
        ? undefined
        : givenNameFault(name, 'Enter a name, for example of the program that uses the key.'),
    allowed_origins: allowed_origins.length > 100 ? 'Use at most 100 origins.' : originFault(allowed_origins),
    expiryDate: expiry === 'date' ? dateFault(draft) : undefined,
    ratePerSecond: rate === 'own' ? rateFault(ratePerSecond) : undefined,
  }
  return onlyFaults(faults)
}

/** The request body to create this key. */
export function keyCreation(
  kind: Schemas['KeyKind'],
  draft: KeyDraft,
  now: Date,
): Schemas['ServiceKeyCreation'] {
  return {
    kind,
    name: draft.name,
    expires_at: expiryOf(draft, now) ?? null,
    rate_limit: rateOf(draft),
    // Only publishable keys have origins; ignores those typed before the kind was changed.
    ...(kind === 'publishable' && { allowed_origins: draft.allowed_origins }),
  }
}

/** The changed fields, as they are sent. */
export function keyChanges(key: ServiceKey, draft: KeyDraft, now: Date): Schemas['ServiceKeyUpdate'] {
  const expires_at = expiryOf(draft, now)
  const rate_limit = rateOf(draft)
  const { name, allowed_origins } = draft
  return {
    ...(name !== key.name && { name }),
    ...(allowed_origins.join(' ') !== key.allowed_origins.join(' ') && { allowed_origins }),
    ...(expires_at !== undefined && expires_at !== key.expires_at && { expires_at }),
    ...(rate_limit !== key.rate_limit && { rate_limit }),
  }
}

/** The server's errors, by field of the form. */
export function keyErrors(error: unknown): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const [field, fault] of Object.entries(fieldErrors(error))) {
    if (field.startsWith('allowed_origins')) errors.allowed_origins ??= fault
    else if (field === 'expires_at') errors.expiry = fault
    else if (field === 'rate_limit') errors.ratePerSecond = fault
    else errors[field] = fault
  }
  if (codeOf(error) === 'expires_at_in_past') errors.expiry = 'Choose a time in the future.'
  if (codeOf(error) === 'rate_limit_too_high') errors.rate = 'Choose a lower rate.'
  return errors
}

/** The first possible expiry day of a key, for a native date field. */
export function tomorrow(): string {
  const now = new Date()
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1)
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}

/** The contract's pattern. */
const originPattern =
  /^https?:\/\/([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/

function originFault(origins: string[]): string | undefined {
  const wrong = origins.find((origin) => !originPattern.test(origin) || origin.length > 255)
  if (wrong === undefined) return undefined
  if (wrong.includes('*')) return `“${wrong}” contains a wildcard. List each origin separately.`
  const suggestion = originIn(wrong)
  return suggestion
    ? `“${wrong}” is not an origin. Did you mean ${suggestion}?`
    : `“${wrong}” is not an origin. Enter scheme, host and optional port: https://app.example.com`
}

/** The origin that the typed text probably means. */
function originIn(text: string): string | undefined {
  const address = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)
  return address && originPattern.test(address.origin) ? address.origin : undefined
}

function dateFault(draft: KeyDraft): string | undefined {
  if (!draft.expiryDate) return 'Enter the day on which the key expires.'
  const expiresAt = startOfDay(draft.expiryDate)
  if (!expiresAt) return 'Enter a date such as 31 Jan 2027.'
  return expiresAt <= new Date() ? 'Choose a day after today.' : undefined
}

function rateFault(rate: number | string): string | undefined {
  const isWhole = typeof rate === 'number' && Number.isInteger(rate)
  return isWhole && rate >= 1 && rate <= 1_000_000 ? undefined : 'Enter a whole number from 1 to 1,000,000.'
}

/** Undefined if unchanged. */
function expiryOf({ expiry, expiryDate }: KeyDraft, now: Date): string | null | undefined {
  if (expiry === 'unchanged') return undefined
  if (expiry === 'never') return null
  if (expiry === 'date') return startOfDay(expiryDate)?.toISOString()
  return new Date(now.getTime() + Number(expiry) * day_ms).toISOString()
}

/** The start of a typed day in the viewer's time zone; undefined if it is not a day. */
export function startOfDay(text: string): Date | undefined {
  const day = instantOf(text)
  day?.setHours(0, 0, 0, 0)
  return day
}

function rateOf({ rate, ratePerSecond }: KeyDraft): number | null {
  if (rate === 'default') return null
  return rate === 'unlimited' ? 0 : Number(ratePerSecond)
}
