/**
 * Replaces `server/storage/threads/thread-module.ts` in a run, so that the threads of a server in the test process
 * start from the built files. Starting each from source would take a third of a second of processor time.
 */
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const server = new URL('../../server/', import.meta.url)
const built = new URL('../../dist/server/', import.meta.url)

export function threadModule(name: string, starter: string): URL {
  const folder = relative(fileURLToPath(server), dirname(fileURLToPath(starter)))
  return new URL(`${folder.replaceAll('/', '.')}.${name}.js`, built)
}
