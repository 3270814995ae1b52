import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { isBuilt, SERVER_SOURCES } from '../server/cli/built.js'
import { processEnvironment } from '../server/config.ts'

/**
 * What is built: the folder, the file in it that says when, and the program that builds it, up to the folder into which.
 * In JavaScript like what it shares with the command, which every Node reads.
 */
const built = [
  {
    folder: 'dist/admin',
    entry: 'index.html',
    sources: ['admin', 'client', 'generated', 'package.json', 'package-lock.json'],
    program: ['vite/bin/vite.js', 'build', 'admin', '--emptyOutDir', '--logLevel', 'warn', '--outDir'],
  },
  {
    folder: 'dist/server',
    entry: 'commands.js',
    sources: SERVER_SOURCES,
    program: ['rolldown/bin/cli.mjs', '-c', 'server/rolldown.config.js', '--dir'],
  },
  {
    folder: 'dist/guides',
    entry: 'guides.json',
    sources: ['deploy', 'openapi.yaml', 'server/docs', 'package-lock.json'],
    program: ['../server/docs/render-guides.js'],
  },
]

/** Builds the administration interface, the server and the guides before a run, where one is missing or older than its sources. */
export function setup() {
  for (const one of built) if (!isBuilt(join(one.folder, one.entry), one.sources)) build(one)
}

function build({ folder, entry, sources, program: [file, ...args] }) {
  const begun = new Date()
  // Beside the old one, which another run may be testing; a rename puts it in place whole.
  const temporary = `${folder}-${process.pid}`
  try {
    // A process of its own: NODE_ENV, which vitest sets to test, would take React's development build.
    execFileSync(process.execPath, [join('node_modules', file), ...args, join(process.cwd(), temporary)], {
      env: { PATH: processEnvironment().PATH },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    // What changes while it is being built is not in it.
    utimesSync(join(temporary, entry), begun, begun)
    rmSync(folder, { recursive: true, force: true })
    renameSync(temporary, folder)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    // Another run may have been first.
    if (!isBuilt(join(folder, entry), sources)) throw error
  }
}
