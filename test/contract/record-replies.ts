import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'
import { seenReplies } from '../fixtures/contract/reply-check.ts'

afterAll(() => {
  writeFileSync(join(inject('recordsFolder'), `${randomUUID()}.json`), JSON.stringify([...seenReplies]))
})
