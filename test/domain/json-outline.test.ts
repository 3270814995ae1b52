// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { type Outline, outlineInSlices, outlineOf } from '../../server/domain/json-outline.ts'

const MIB = 1024 * 1024

/** Four MiB of items, after a text of one MiB that looks like more of them. */
function longText(item: (index: number) => string): Buffer {
  const items: string[] = []
  for (let length = 0; length < 4 * MIB; length += items.at(-1)?.length ?? 0) items.push(item(items.length))
  return Buffer.from(`{"text":"${'{\\"a\\":['.repeat(MIB / 8)}","events":[${items}]}`)
}

const texts = {
  'objects of one kind': longText(() => '{"a":{"b":[]},"c":0}'),
  'objects of many kinds': longText((index) => `{"${index % 50_000}":0}`),
  'brackets that never end': longText(() => '[[{'),
  strings: longText((index) => `"${index}\\n"`),
  'names with escapes': longText((index) => `{"${index % 50}\\n":0}`),
}

describe('a long text that is scanned in slices', () => {
  it('has the same outline as at once, also if others are scanned between the slices', async () => {
    let pauses = 0
    const pause = async () => {
      pauses += 1
    }
    const outlines = await Promise.all(Object.values(texts).map((text) => outlineInSlices(text, pause)))
    expect(outlines).toEqual(Object.values(texts).map((text): Outline => outlineOf(text)))
    // About a dozen slices per text, with no pause before the first.
    expect(pauses).toBeGreaterThan(6 * outlines.length)
  })

  it('ends where the text does if a string does not', async () => {
    const text = Buffer.from(`["${'x'.repeat(2 * MIB)}`)
    expect(await outlineInSlices(text, async () => {})).toEqual(outlineOf(text))
  })
})
