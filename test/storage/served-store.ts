import { openStorage } from '../../server/storage/open.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import type { Store } from '../fixtures/store.ts'

/** A store that the test can reach, behind HTTP. Both close with the test. */
export type ServedStore = {
  store: Store
  /** Without the base path. */
  url: string
  workspace: Workspace
}

export async function serveStoreForTest(): Promise<ServedStore> {
  const opened = Promise.withResolvers<Storage>()
  const { url, databaseUrl, workspace } = await startCairnForTest({
    async open(options) {
      const storage = await openStorage(options)
      opened.resolve(storage)
      return storage
    },
  })
  const store = { ...(await opened.promise), databaseUrl }
  return { store, url, workspace: await workspace() }
}
