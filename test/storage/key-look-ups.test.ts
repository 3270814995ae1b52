// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { Credentials } from '../../server/http/callers/credentials.ts'
import { serveStoreForTest } from './served-store.ts'

it('a key that may have changed while it was looked up is looked up again', async () => {
  const { store, workspace } = await serveStoreForTest()
  let lookUps = 0
  const credentials = new Credentials({
    storage: store,
    now: Date.now,
    onError(error) {
      throw error
    },
    onLookUp() {
      lookUps += 1
      if (lookUps === 1) credentials.forget()
    },
  })
  const lookUpsAfterCheck = async () => {
    await credentials.check(workspace.secret_key, {
      accepts: ['secret'],
      origin: undefined,
      queued: (lookUp) => lookUp(),
    })
    return lookUps
  }
  expect(await lookUpsAfterCheck()).toBe(1)
  expect(await lookUpsAfterCheck()).toBe(2)
  // Nothing has changed since.
  expect(await lookUpsAfterCheck()).toBe(2)
})
