import { execFileSync } from 'node:child_process'

/** Paths of the programs that this machine has. */
const found = new Map<string, string>()

/**
 * Whether the machine has the programs that a sample in `deploy/` is for. If not, standard error says what is skipped,
 * so that it does not look as if it had been tested.
 */
export function hasPrograms(...names: string[]): boolean {
  const missing = names.filter((name) => !pathOf(name))
  if (missing.length === 0) return true
  process.stderr.write(
    `\nNOT TRIED, because ${missing.join(' and ')} is not installed: see deploy/README.md\n\n`,
  )
  return false
}

/** Returns the path of a program, also if only the administrator's PATH contains it; undefined if there is none. */
export function pathOf(name: string): string | undefined {
  const known = found.get(name)
  if (known) return known
  try {
    const command = `PATH="$PATH:/usr/sbin:/sbin" command -v "$0"`
    const path = execFileSync('sh', ['-c', command, name], { encoding: 'utf8' }).trim()
    found.set(name, path)
    return path
  } catch {
    return undefined
  }
}
