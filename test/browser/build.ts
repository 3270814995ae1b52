import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { processEnvironment } from '../../server/config.ts'

const built = 'dist/admin'
const sources = ['admin', 'client', 'package.json', 'package-lock.json']

/** Builds the administration interface before a run, if it is missing or older than what it is built from. */
export function setup(): void {
  if (!isStale()) return
  const begun = new Date()
  // Beside the old one, which another run may be testing; a rename puts it in place whole.
  const folder = `${built}-${process.pid}`
  try {
    build(folder)
    // What changes while it is being built is not in it.
    utimesSync(join(folder, 'index.html'), begun, begun)
    rmSync(built, { recursive: true, force: true })
    renameSync(folder, built)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    // Another run may have been first.
    if (isStale()) throw error
  }
}

function isStale(): boolean {
  return changedAt_ms(`${built}/index.html`) < Math.max(...sources.map(newestChange_ms))
}

function build(folder: string) {
  const options = ['--outDir', join('..', folder), '--emptyOutDir', '--logLevel', 'warn']
  // A process of its own: NODE_ENV, which vitest sets to test, would take React's development build.
  execFileSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', 'admin', ...options], {
    env: { PATH: processEnvironment().PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

function newestChange_ms(path: string): number {
  if (!statSync(path).isDirectory()) return changedAt_ms(path)
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return Math.max(changedAt_ms(path), ...files.map((file) => changedAt_ms(join(path, file))))
}

/** 0 if there is no such file. */
function changedAt_ms(path: string): number {
  return existsSync(path) ? statSync(path).mtimeMs : 0
}
