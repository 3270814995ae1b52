// engines: postgres (what only PostgreSQL has)

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import {
  bigintArray,
  booleanArray,
  integerArray,
  textArray,
  uuidArray,
} from '../../server/storage/postgres/connection/binary-arrays.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

const uuids = [
  randomUUID(),
  null,
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
]
const texts = ['', 'plain', null, 'ä€𝄞', '{"a":"\\"b\\",{}"}', 'NULL', 'x'.repeat(100_000), '\u0001\n']
const millis = [
  0,
  1,
  -1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  -(2 ** 32) - 1,
  1_790_000_000_000,
  2 ** 53 - 1,
  1 - 2 ** 53,
]
const integers = [0, 999, -1, 2 ** 31 - 1, -(2 ** 31)]
const booleans = [true, false, true]
const hexOf = (uuid: string | null) => uuid?.replaceAll('-', '') ?? null

it.each([
  ['uuid', uuidArray(uuids.map(hexOf)), uuids],
  ['text', textArray(texts), texts],
  ['bigint', bigintArray(millis), millis.map(String)],
  ['int', integerArray(integers), integers],
  ['boolean', booleanArray(booleans), booleans],
  ['text', textArray([]), []],
])('lets PostgreSQL read as %s[] what was written', async (type, bytes, values) => {
  const client = new Client({ connectionString: await newDatabase() })
  await client.connect()
  onTestFinished(() => client.end())
  const text = `SELECT value FROM unnest($1::${type}[]) WITH ORDINALITY AS read (value, n) ORDER BY n`
  const { rows } = await client.query(text, [bytes])
  expect(rows.map(({ value }) => value)).toEqual(values)
})
