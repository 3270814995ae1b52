// engines: none (opens no store)

import { expect, it } from 'vitest'
import { Segment } from '../../../server/storage/sqlite/index/memtable.ts'
import { runOfSegment } from '../../../server/storage/sqlite/index/memtable-flush.ts'
import { postingKeys } from '../../../server/storage/sqlite/index/posting-keys.ts'
import { postingsFrom } from '../../../server/storage/sqlite/index/postings.ts'
import { RunBuilder } from '../../../server/storage/sqlite/index/run-builder.ts'

it('finds events by name also where the numbers of journeys and workspaces exceed the bits in a key', () => {
  const greatest = 2 ** 22
  const refs = [greatest + 1, greatest - 1, 1, greatest, 2 * greatest + 1, greatest - 1, 2]
  const segment = new Segment(1)
  for (const [index, ref] of refs.entries()) {
    const own = { workspace_ref: ref, journey_ref: ref, customer_ref: 1, name: 7, at_ms: index }
    segment.append({ seq: index + 1, ...own, message_key: null })
  }
  const pages: Buffer[] = []
  const writer = {
    insertPage(_run: number, part: string, _index: number, bytes: Buffer) {
      if (part === 'postings') pages.push(bytes)
    },
  }
  const outline = { run: 1, level: 0, first_seq: 1, last_seq: refs.length, messages: 0 }
  const flush = runOfSegment(segment, new RunBuilder(writer, outline))
  let flushed = flush.next()
  while (!flushed.done) flushed = flush.next()
  const run = flushed.value
  for (const ref of refs) {
    const same = refs.flatMap((other, index) => (other % greatest === ref % greatest ? index + 1 : []))
    for (const key of [postingKeys.name(ref, 7), postingKeys.journeyName(ref, 7)]) {
      expect([...postingsFrom(run, (_run, _part, page) => pages[page] as Buffer, { key, from: 0 })]).toEqual(
        same,
      )
    }
  }
})
