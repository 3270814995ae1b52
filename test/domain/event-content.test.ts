// engines: none (pure)

import { describe, expect, it } from 'vitest'
import { isSameContent } from '../../server/domain/event-content.ts'

const content = { journey_id: 'jrn', customer_id: 'cus', event_id: 'a', occurred_ms: null }

function areSame(stored: string | null, resent: string | null): boolean {
  return isSameContent({ ...content, custom_variables: stored }, { ...content, custom_variables: resent })
}

describe('the variables of a resend', () => {
  it('are the same in another order of names', () => {
    expect(areSame('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}')).toBe(true)
    expect(areSame('{"a":1,"b":2}', '{"a":2,"b":1}')).toBe(false)
    expect(areSame(null, null)).toBe(true)
    expect(areSame(null, '{}')).toBe(false)
  })

  it('are not parsed if their length differs: a small one would cost as much as a large stored one', () => {
    expect(areSame('no JSON', '{"a":0}'.repeat(2))).toBe(false)
    expect(() => areSame('no JSON', '{"a":0}')).toThrow()
  })
})
