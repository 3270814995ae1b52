import { execFileSync } from 'node:child_process'

/** Of each program the path, for those that this machine has. */
const found = new Map<string, string>()

/**
 * Whether the machine has programs that a sample of `deploy/` is for. Where it has not, standard error says what is not
 * tried: it must not look as if it had been.
 */
export function hasPrograms(...names: string[]): boolean {
  const missing = names.filter((name) => !pathOf(name))
  if (missing.length === 0) return true
  process.stderr.write(
    `\nNOT TRIED, because ${missing.join(' and ')} is not installed: see deploy/README.md\n\n`,
  )
  return false
}

/** The path of a program, also where only the administrator's PATH has it; undefined where there is none. */
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
