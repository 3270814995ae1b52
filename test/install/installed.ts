/** What the tests of a clone and of a release share. */
import { equal, match, ok } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { processEnvironment } from '../../server/config.ts'

export const run = promisify(execFile)

/** Of this tree. */
export const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

/** A folder for one file of tests, removed at their end. */
export const root = mkdtempSync(join(tmpdir(), 'cairn-install-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** The reader's environment: without npm's variables for this run, and without the Node that npm puts first. */
const shell = Object.fromEntries(
  Object.entries(processEnvironment()).filter(([name]) => !/^npm_/i.test(name) || /registry$/i.test(name)),
)
shell.PATH = (shell.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

/** Runs a command as a reader of the documentation does. @returns what it prints */
export async function bash(command: string, folder: string): Promise<string> {
  const { stdout } = await run('bash', ['-ec', command], { cwd: folder, env: shell })
  return stdout
}

/** Starts a server with the command, runs the checks, and stops it as a supervisor does. */
export async function whileServing(
  command: string,
  folder: string,
  ask: (url: string) => Promise<void>,
): Promise<string> {
  const databaseUrl = `sqlite:${join(mkdtempSync(join(root, 'store-')), 'cairn.db')}`
  const server = spawn('bash', ['-c', `exec ${command}`], {
    cwd: folder,
    env: { ...shell, PORT: '0', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text
        const found = /listens on (\S+)/.exec(printed)?.[1]
        if (found) resolve(found)
      })
    }
    server.once('exit', (code) => reject(new Error(`${command} ended with ${code}: ${printed}`)))
  })
  try {
    await ask(url)
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
  equal(server.exitCode, 0)
  return printed
}

/** Checks that the interface and the reference are complete. */
export async function hasItsPages(url: string) {
  const page = await (await fetch(`${url}/admin/`)).text()
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? []
  equal(
    (await fetch(new URL(script ?? '/', url))).headers.get('content-type'),
    'text/javascript; charset=utf-8',
  )
  ok((await (await fetch(`${url}/docs/redoc.js`)).text()).length > 500_000)
  ok((await (await fetch(`${url}/docs/`)).text()).includes('<main id="reference">'))
  ok((await (await fetch(`${url}/docs/operations`)).text()).includes('<h2 id="upgrade">'))
  match(await (await fetch(`${url}/v1/openapi.yaml`)).text(), new RegExp(`^  version: ${version}$`, 'm'))
}

/** Returns the size of the packages installed in a folder. */
export async function megabytes(folder: string): Promise<number> {
  return Number.parseInt(await bash('du -sm node_modules', folder), 10)
}

/** Returns the block of a document that has the text, verbatim. */
export function blockOf(file: string, language: string, text: string): string {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/```(\w*)\n(.*?)```/gs)]
  const found = blocks.find(([, of, block = '']) => of === language && block.includes(text))?.[2]
  if (!found) throw new Error(`${file} has no block with ${text}`)
  return found
}
