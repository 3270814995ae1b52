// engines: none (opens no store)

import { randomBytes } from 'node:crypto'
import { TypeID } from 'typeid-js'
import { expect, it } from 'vitest'
import { newId, newIdBetween, typeIdBytes, typeIdText } from '../../server/domain/identifiers.ts'
import { digitsOf, idOf, uuidOf } from '../../server/storage/postgres/connection/uuids.ts'

const some = [new Uint8Array(16), new Uint8Array(16).fill(255)]
for (let index = 0; index < 200; index += 1) some.push(new Uint8Array(randomBytes(16)))

it('formats and parses an identifier like TypeID', () => {
  for (const bytes of some) {
    const id = TypeID.fromUUIDBytes('evt', bytes)
    expect(typeIdText('evt', bytes)).toBe(id.toString())
    expect(typeIdBytes(id.toString())).toEqual(bytes)
    const digits = Buffer.from(bytes).toString('hex')
    expect(idOf('evt', digits)).toBe(id.toString())
    expect(uuidOf(id.toString())).toBe(digits)
  }
})

it.each([
  '',
  '_00000000000000000000000000',
  'evt-00000000000000000000000000',
  'evt_0000000000000000000000000',
  'evt_000000000000000000000000000',
  'evt_80000000000000000000000000',
  'evt_0000000000000000000000000l',
  'evt_0000000000000000000000000A',
  'evt_0000000000000000000000000é',
])('does not parse %j', (text) => {
  expect(typeIdBytes(text)).toBeUndefined()
})

it('makes identifiers in ascending order, which TypeID can read', () => {
  const before_ms = Date.now()
  const ids = Array.from({ length: 1000 }, () => newId('cus'))
  expect(ids).toEqual([...new Set(ids)].toSorted())
  for (const id of ids) {
    const uuid = TypeID.fromString(id, 'cus').toUUID()
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(digitsOf(uuid).slice(0, 12), 16)).toBeGreaterThanOrEqual(before_ms)
  }
})

it('makes an identifier of another time whose rest says nothing of this one', () => {
  const [from_ms, to_ms] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)]
  const uuids = Array.from({ length: 100 }, () =>
    digitsOf(TypeID.fromString(newIdBetween('cus', from_ms, to_ms)).toUUID()),
  )
  for (const uuid of uuids) {
    const ms = Number.parseInt(uuid.slice(0, 12), 16)
    expect(ms >= from_ms && ms <= to_ms && uuid[12] === '7').toBe(true)
  }
  // Three digits of a counter that is not one.
  expect(new Set(uuids.map((uuid) => uuid.slice(13, 16))).size).toBeGreaterThan(50)
})
