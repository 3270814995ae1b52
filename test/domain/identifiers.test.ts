// engines: none (opens no store)

import { randomBytes } from 'node:crypto'
import { TypeID } from 'typeid-js'
import { expect, it } from 'vitest'
import { eventIdBytes, eventIdText } from '../../server/domain/identifiers.ts'

it('formats the bytes of an event identifier like TypeID', () => {
  const some = Array.from({ length: 200 }, () => new Uint8Array(randomBytes(16)))
  for (const bytes of [...some, new Uint8Array(16), new Uint8Array(16).fill(255)]) {
    const text = eventIdText(bytes)
    expect(text).toBe(TypeID.fromUUIDBytes('evt', bytes).toString())
    expect(eventIdBytes(text)).toEqual(bytes)
  }
})
