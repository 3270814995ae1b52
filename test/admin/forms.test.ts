// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import {
  carriedOver,
  draftOfJourney,
  fieldsToDecide,
  journeyChanges,
  journeyFaults,
} from '../../admin/journeys/journey-draft.ts'
import {
  draftOfKey,
  keyChanges,
  keyCreation,
  keyErrors,
  keyFaults,
  newKeyDraft,
  tomorrow,
} from '../../admin/keys/key-draft.ts'
import { nativeText } from '../../admin/parts/instants/typed-instant.ts'
import { ProblemError } from '../../admin/problem.ts'
import {
  newWebhookDraft,
  webhookBody,
  webhookChanges,
  webhookErrors,
  webhookFaults,
  windowText,
} from '../../admin/webhooks/webhook-draft.ts'
import type { Problem, Schemas } from '../../client/person.ts'

const at = '2026-11-20T09:30:00.000Z'
const now = new Date(at)

/** The problem that a server answers with. */
function problem(code: Problem['code'], errors: Problem['errors'] = []): ProblemError {
  const body: Problem = {
    type: '',
    title: '',
    status: 400,
    detail: 'What to change.',
    code,
    request_id: '',
    errors,
  }
  return new ProblemError(body, new Response())
}

const key: Schemas['ServiceKey'] = {
  key_id: 'key_01jd3zc4s7e9qv6x0m2n5b8wtr',
  kind: 'publishable',
  name: 'Website',
  last_four: 'x7Qa',
  token: null,
  allowed_origins: [],
  rate_limit: null,
  status: 'active',
  created_by: null,
  created_at: at,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
}

describe('The form of a service key', () => {
  it.each([
    [
      'one origin too many',
      { allowed_origins: Array.from({ length: 101 }, (_, n) => `https://${n}.example.com`) },
      'allowed_origins',
    ],
    [
      'as many origins as there can be',
      { allowed_origins: Array.from({ length: 100 }, (_, n) => `https://${n}.example.com`) },
    ],
    ['a rate of 0', { rate: 'own', ratePerSecond: 0 }, 'ratePerSecond'],
    ['the lowest rate', { rate: 'own', ratePerSecond: 1 }],
    ['a broken rate', { rate: 'own', ratePerSecond: 1.5 }, 'ratePerSecond'],
    ['the highest rate', { rate: 'own', ratePerSecond: 1_000_000 }],
    ['a higher rate', { rate: 'own', ratePerSecond: 1_000_001 }, 'ratePerSecond'],
    ['a rate that is not chosen', { rate: 'unlimited', ratePerSecond: '' }],
    ['today', { expiry: 'date', expiryDate: 'today' }, 'expiryDate'],
    ['a later day', { expiry: 'date', expiryDate: '31 Dec 2099' }],
    ['a day that is not chosen', { expiry: '30', expiryDate: 'soon' }],
  ] as const)('takes %s or says where it is wrong', (_, changed, field?: string) => {
    const draft = { ...newKeyDraft, name: 'Website', ...structuredClone(changed) } as typeof newKeyDraft
    expect(Object.keys(keyFaults(draft))).toEqual(field ? [field] : [])
  })

  it('finds nothing wrong with a name that is older than the rules and stays', () => {
    const old = { ...key, name: '\u200b' }
    expect(keyFaults(draftOfKey(old), old)).toEqual({})
    expect(keyFaults(draftOfKey(old))).toHaveProperty('name')
  })

  it('sends what was chosen, and of an edited key only what was changed', () => {
    const typed = { ...newKeyDraft, name: 'Website', allowed_origins: ['https://app.example.com'] }
    const sent = { name: 'Website', expires_at: null, rate_limit: null }
    expect(keyCreation('secret', typed, now)).toEqual({ kind: 'secret', ...sent })
    expect(keyCreation('publishable', { ...typed, expiry: '90', rate: 'unlimited' }, now)).toEqual({
      kind: 'publishable',
      name: 'Website',
      expires_at: '2027-02-18T09:30:00.000Z',
      rate_limit: 0,
      allowed_origins: ['https://app.example.com'],
    })
    const expiring = { ...key, expires_at: at, rate_limit: 20 }
    const draft = draftOfKey(expiring)
    expect(keyChanges(expiring, draft, now)).toEqual({})
    expect(keyChanges(expiring, { ...draft, expiry: 'never', rate: 'default' }, now)).toEqual({
      expires_at: null,
      rate_limit: null,
    })
    const unlimited = { ...key, rate_limit: 0 }
    expect(draftOfKey(unlimited).ratePerSecond).toBe(newKeyDraft.ratePerSecond)
    expect(keyChanges(unlimited, draftOfKey(unlimited), now)).toEqual({})
  })

  it('offers days from tomorrow on', () => {
    const before = new Date()
    const offered = tomorrow()
    // Midnight may come in between.
    const possible = [before, new Date()].map((now) =>
      nativeText(new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1), 'date'),
    )
    expect(possible).toContain(offered)
  })

  it.each([
    ['allowed_origins_invalid', '/allowed_origins/1', 'allowed_origins'],
    ['', '/expires_at', 'expiry'],
    ['', '/rate_limit', 'ratePerSecond'],
    ['expires_at_in_past', undefined, 'expiry'],
    ['rate_limit_too_high', undefined, 'rate'],
  ])('shows what the server refuses at the field: %s %s', (code, pointer, field) => {
    const errors = pointer === undefined ? [] : [{ code: 'unexpected' as const, pointer, detail: 'Wrong.' }]
    const refused = problem((code || 'invalid_request') as Problem['code'], errors)
    expect(Object.keys(keyErrors(refused))).toEqual([field])
  })
})

const journey: Schemas['Journey'] = {
  journey_id: 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr',
  name: 'Onboarding',
  description: '',
  steps: [
    { event_id: 'signed_up', name: 'Signed up' },
    { event_id: 'paid', name: 'Paid' },
  ],
  status: 'active',
  created_at: at,
  updated_at: at,
  retention_days: null,
}

describe('The form of a journey', () => {
  it('asks only about what both changed, each in another way', () => {
    const newer = { ...journey, name: 'Onboarding 2', description: 'Theirs' }
    const draft = draftOfJourney(journey)
    const ours = { ...draft, description: 'Ours' }
    expect(fieldsToDecide(journey, newer, ours)).toEqual(['name', 'description'])
    expect(fieldsToDecide(journey, newer, { ...ours, name: 'Onboarding 2' })).toEqual(['description'])
    expect(fieldsToDecide(journey, newer, { ...ours, name: 'Onboarding 2', description: 'Theirs' })).toEqual(
      [],
    )
  })

  it('takes over what only somebody else changed', () => {
    const newer = { ...journey, name: 'Onboarding 2', steps: journey.steps.slice(0, 1) }
    const ours = { ...draftOfJourney(journey), description: 'Ours' }
    expect(journeyChanges(journey, carriedOver(ours, journey, newer))).toEqual({
      name: 'Onboarding 2',
      description: 'Ours',
      steps: newer.steps,
    })
    const fewer = { ...draftOfJourney(journey), steps: draftOfJourney(journey).steps.slice(1) }
    const renamed = { ...journey, name: 'Onboarding 2' }
    expect(carriedOver(fewer, journey, renamed)).toEqual({ ...fewer, name: 'Onboarding 2' })
  })

  it('names the first of the steps with the same event', () => {
    const step = { event_id: 'paid', name: 'Paid' }
    const draft = draftOfJourney({ ...journey, steps: [...journey.steps, step, step] })
    const faults = journeyFaults(draft)
    expect(Object.keys(faults)).toEqual(['steps.2.event_id', 'steps.3.event_id'])
    for (const fault of Object.values(faults)) expect(fault).toContain('Step 2 already')
  })

  it('finds nothing wrong with fields that are older than the rules and stay', () => {
    const old = { ...journey, name: '\u200b' }
    const draft = draftOfJourney(old)
    expect(Object.keys(journeyFaults(draft))).toEqual(['name'])
    expect(journeyFaults({ ...draft, description: 'New' }, old)).toEqual({})
    expect(Object.keys(journeyFaults({ ...draft, description: 'x'.repeat(2001) }, old))).toEqual([
      'description',
    ])
  })
})

const webhook = {
  ...newWebhookDraft,
  url: 'https://hooks.example.com/cairn',
} satisfies typeof newWebhookDraft

describe('The form of a webhook', () => {
  it.each([
    ['https://hooks.example.com/cairn?team=a', true],
    ['ftp://hooks.example.com/cairn', false],
    ['https://user:secret@hooks.example.com/', false],
    ['https://hooks.example.com/#cairn', false],
    [`https://hooks.example.com/${'x'.repeat(2048 - 26)}`, true],
    [`https://hooks.example.com/${'x'.repeat(2049 - 26)}`, false],
  ])('takes the URL or says that it is wrong, in case %#', (url, isTaken) => {
    expect(Object.keys(webhookFaults({ ...webhook, url }))).toEqual(isTaken ? [] : ['url'])
  })

  it('asks for the time of a journey only where it is sent', () => {
    const untimed = { ...webhook, dropped_after: 'soon' }
    expect(webhookFaults(untimed)).toEqual({})
    expect(Object.keys(webhookFaults({ ...untimed, types: ['journey.dropped'] }))).toEqual(['dropped_after'])
  })

  it.each([
    [['event.created'], ['jrn_1'], ['paid'], null],
    [['journey.completed'], ['jrn_1'], null, null],
    [['journey.dropped'], ['jrn_1'], null, 'P7D'],
    [['customer.erased'], null, null, null],
  ] as const)('sends the filters of %j alone', (types, journey_ids, event_ids, dropped_after) => {
    const draft = { ...webhook, types: [...types], journey_ids: ['jrn_1'], event_ids: ['paid'] }
    expect(webhookBody(draft)).toMatchObject({ journey_ids, event_ids, dropped_after })
  })

  it('sends only what was changed, also what the former types left out', () => {
    const stored = { ...webhook, types: ['customer.erased' as const], event_ids: ['paid'] }
    expect(webhookChanges(stored, { ...stored, event_ids: [...stored.event_ids] })).toEqual({})
    const types = ['customer.erased' as const, 'event.created' as const]
    expect(webhookChanges(stored, { ...stored, types, event_ids: [] })).toEqual({ types, event_ids: null })
    expect(webhookChanges({ ...stored, types }, { ...stored, types: types.toReversed() })).toEqual({})
  })

  it.each([
    ['P7D', '7d'],
    ['PT36H', '1d 12h'],
    ['P1DT2H3M', 'P1DT2H3M'],
  ])('shows the time %s so that it stays the same: %s', (duration, text) => {
    expect(windowText(duration)).toBe(text)
  })

  it.each([
    ['invalid_request', '/journey_ids/3', 'journey_ids'],
    ['webhook_url_not_allowed', undefined, 'url'],
    ['dropped_after_missing', undefined, 'dropped_after'],
  ] as const)('shows what the server refuses at the field: %s %s', (code, pointer, field) => {
    const errors = pointer === undefined ? [] : [{ code: 'unexpected' as const, pointer, detail: 'Wrong.' }]
    expect(Object.keys(webhookErrors(problem(code, errors)))).toEqual([field])
  })
})
