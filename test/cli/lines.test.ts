// engines: none (opens no store)

import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { LINE_BYTES, readLines } from '../../server/cli/lines.ts'

/** Returns the lines of an input, with their numbers. */
async function linesOf(chunks: readonly Buffer[]): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = []
  for await (const some of readLines(Readable.from(chunks), () => {})) {
    lines.push(...some.map(({ number, bytes }): [number, string | undefined] => [number, bytes?.toString()]))
  }
  return lines
}

it('blank lines of spaces, tabs and carriage returns count, and are not returned', async () => {
  expect(await linesOf([Buffer.from('1\n \t\r\n\t\n2\n')])).toEqual([
    [1, '1'],
    [4, '2'],
  ])
})

it('the longest line is returned, and of a longer one its number alone', async () => {
  const longest = 'x'.repeat(LINE_BYTES)
  const [one, two] = await linesOf([Buffer.from(`${longest}\n${longest}x\n`)])
  expect(one?.[1]).toHaveLength(LINE_BYTES)
  expect(two).toEqual([2, undefined])
})

it('lines are read from chunks of single bytes, plain and gzipped', async () => {
  const text = Buffer.from('\ufeff{"n": 1}\n{"n": 2}')
  for (const whole of [text, gzipSync(text)]) {
    expect(await linesOf([...whole].map((byte) => Buffer.of(byte)))).toEqual([
      [1, '{"n": 1}'],
      [2, '{"n": 2}'],
    ])
  }
})
