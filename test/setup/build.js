import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { isBuilt, SERVER_SOURCES } from '../../server/cli/built.js'
import { processEnvironment } from '../../server/config.ts'

/**
 * What is built: the folder; the file in it whose modification time is that of the build; and the program that builds it, with
 * its arguments except the last one, the output folder. In JavaScript, like the module that it shares with the `cairn` command,
 * because every Node can read it.
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
    program: ['rolldown/bin/cli.mjs', '-c', 'server/build/rolldown.config.js', '--dir'],
  },
  {
    folder: 'dist/guides',
    entry: 'guides.json',
    sources: ['deploy', 'openapi.yaml', 'server/docs', 'package-lock.json'],
    program: ['../server/docs/render-guides.js'],
  },
]

/** Before a run, builds the administration interface, the server and the guides if they are missing or outdated. */
export function setup() {
  for (const one of built) if (!isBuilt(join(one.folder, one.entry), one.sources)) build(one)
}

function build({ folder, entry, sources, program: [file, ...args] }) {
  const begun = new Date()
  // Beside the old one, which another run may be testing; a rename then replaces it atomically.
  const temporary = `${folder}-${process.pid}`
  try {
    // In a separate process: with NODE_ENV=test, which vitest sets, React's development build would be used.
    execFileSync(process.execPath, [join('node_modules', file), ...args, join(process.cwd(), temporary)], {
      env: { PATH: processEnvironment().PATH },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    // Set to the start of the build, because changes during it are not included.
    utimesSync(join(temporary, entry), begun, begun)
    rmSync(folder, { recursive: true, force: true })
    renameSync(temporary, folder)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    // Another run may have been first.
    if (!isBuilt(join(folder, entry), sources)) throw error
  }
}
