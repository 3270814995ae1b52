import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** What the file system, and SQLite, say where a permission may be missing. */
const DENIED = /^(EACCES|EPERM|EROFS|SQLITE_CANTOPEN.*|SQLITE_READONLY.*)$/

/**
 * Returns the message of an error. If a permission is missing, it names the user, the permission and the path instead: the
 * system's own text leaves open which folder of the path is meant, and SQLite's also leaves open whether it is that.
 * @param path what could not be used; by default the path that the error names
 */
export function errorText(error: unknown, path?: string): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path: named = path } = error as NodeJS.ErrnoException
  const missing =
    named !== undefined && DENIED.test(code ?? '') ? missingPermission(path ?? named) : undefined
  return missing ?? error.message
}

/** Returns what prevents this process from reading and replacing a file; undefined if nothing does. */
function missingPermission(path: string): string | undefined {
  const file = resolve(path)
  const folders = foldersOf(file)
  const isThere = existsSync(file)
  for (const [at, mode, action] of [
    ...folders.map((folder) => [folder, constants.X_OK, 'enter the folder'] as const),
    ...(isThere ? [[file, constants.R_OK, 'read'] as const, [file, constants.W_OK, 'write'] as const] : []),
    [dirname(file), constants.W_OK, 'create files in the folder'] as const,
  ]) {
    try {
      accessSync(at, mode)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EROFS') return `the file system of ${at} is read-only`
      if (code === 'EACCES') return `user ${process.geteuid?.()} cannot ${action} ${at} (${rightsOf(at)})`
    }
  }
  return undefined
}

/** The folders that a file is in, outermost first. */
function foldersOf(file: string): string[] {
  const folder = dirname(file)
  return folder === file ? [] : [...foldersOf(folder), folder]
}

function rightsOf(path: string): string {
  const { uid, mode } = statSync(path)
  return `owner: user ${uid}, mode: ${(mode & 0o7777).toString(8)}`
}
