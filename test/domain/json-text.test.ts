// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonText } from '../../server/domain/json-text.ts'

describe('a JSON text', () => {
  it.each([
    { first: '{"v":{"plan":1,"\\\\u":1}}', text: '{"v":{"plan":1,"\\u540d\\u524d":1}}', name: '名前' },
    { first: '{"v":{"plan":1,"\\\\":1}}', text: '{"v":{"plan":1,"\\"":1}}', name: '"' },
    {
      first: '{"v":{"plan":1,"\\\\u00":1}}',
      text: '{"v":{"plan":1,"\\u00e4\\u00f6\\u00fc\\u00df":1}}',
      name: 'äöüß',
    },
  ])('has its own names, whatever texts were parsed before: $text', ({ first, text, name }) => {
    for (let times = 0; times < 10; times += 1) parseJsonText(first)
    expect(parseJsonText(text)).toEqual({ v: { plan: 1, [name]: 1 } })
  })

  it('has the same value as the one that it was written from, escaped as much as possible', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 3 }), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(parseJsonText(text))).toBe(text)
        expect(JSON.stringify(parseJsonText(escaped(text)))).toBe(text)
      }),
    )
  })

  it.each([
    '{"\\q":1}',
    '{"a\\u12":1}',
    '{"a" \\ ": 1}',
    '\\ "a": 1',
    '{"a\\":1}',
    '{"\\"\n":1}',
    '["\\n",]',
  ])('with a fault is refused: %s', (text) => {
    expect(() => parseJsonText(text)).toThrow(SyntaxError)
  })

  it('keeps the last of two equal names, as it keeps __proto__', () => {
    const value = parseJsonText('{"a":1,"\\u0061":2,"__pr\\u006fto__":{"b\\n":3}}')
    expect(JSON.stringify(value)).toBe('{"a":2,"__proto__":{"b\\n":3}}')
  })
})

/** Escapes every character of strings that is not escaped. */
function escaped(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/gs, (quoted) => {
    const units = JSON.parse(quoted).split('') as string[]
    return `"${units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
  })
}
