import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The sources of dist/server. */
export const SERVER_SOURCES = ['server', 'generated', 'client', 'openapi.yaml', 'package-lock.json']

/**
 * Whether a file was built and none of its sources has changed since. Checking all files takes 5 ms.
 * @param {string} file
 * @param {readonly string[]} sources files and folders
 */
export function isBuilt(file, sources) {
  const built_ms = changedAt_ms(file)
  return built_ms > 0 && sources.every((source) => newestChange_ms(source) <= built_ms)
}

/** @param {string} path */
function newestChange_ms(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0
  const names = readdirSync(path)
  // A folder's own time shows deleted files. Not for folders with build output, which changes it too.
  let newest_ms = names.includes('dist') ? 0 : stat.mtimeMs
  for (const name of names) {
    if (name !== 'node_modules' && name !== 'dist')
      newest_ms = Math.max(newest_ms, newestChange_ms(join(path, name)))
  }
  return newest_ms
}

/** Returns 0 if the file does not exist. */
function changedAt_ms(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
