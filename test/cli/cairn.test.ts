// engines: none (opens no store)

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settings } from '../../server/config.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { cairnFile, runCairn, startCommand } from '../fixtures/command.ts'

const COMMANDS = [
  'serve',
  'dev',
  'init',
  'key',
  'member',
  'setup-link',
  'backup',
  'restore',
  'import',
  'export',
]

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

describe('cairn', () => {
  it('--help lists every command, environment variable and exit code', async () => {
    const help = await runCairn(['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    const lines = help.stdout.split('\n').map((line) => line.trim().replace(/ +/, ' '))
    for (const { name, default: value, description } of settings) {
      expect(lines).toContain(`${name} ${description} (default: ${value || 'none'})`)
    }
    for (const command of COMMANDS) {
      expect(help.stdout).toMatch(new RegExp(`^ +${command} `, 'm'))
    }
    expect(help.stdout).toMatch(/^Exit codes: 0 .+, 1 .+, 2 .+, 3 .+,\n +4 .+, 130 .+$/m)
    expect(Math.max(...help.stdout.split('\n').map((line) => line.length))).toBeLessThan(130)
  })

  it('shows each default once, and for each command its usage', async () => {
    const nested = ['key create', 'key rotate', 'member add', 'member set-password']
    const asked = [...COMMANDS, ...nested].map((command) => command.split(' '))
    for (const args of asked) {
      const { code, stdout, stderr } = await runCairn([...args, '--help'])
      expect([args, code, stderr]).toEqual([args, 0, ''])
      expect(stdout).toContain(`Usage: cairn ${args.join(' ')} [options]`)
      // An option with its whole description.
      const options = stdout.split(/\n(?= +(?:-\w, )?--)/).map((text) => text.replace(/\s+/g, ' '))
      expect(options.filter((text) => text.split('default: ').length > 2)).toEqual([])
      expect(stdout).not.toMatch(/default: (\[\]|[0-9]{4,})/)
    }
    for (const command of ['backup', 'key', 'key create']) {
      const byHelp = await runCairn(['help', ...command.split(' ')])
      expect(byHelp).toEqual(await runCairn([...command.split(' '), '--help']))
    }
  })

  it('loads only what a command needs', async () => {
    const source =
      "import { registerHooks } from 'node:module'; registerHooks({ load: (url, context, next) => " +
      '(process.stderr.write(url.concat(" ")), next(url, context)) })'
    const preload = `data:text/javascript,${encodeURIComponent(source)}`
    const loaded = async (...args: string[]) => {
      const { stderr } = await startCommand(process.execPath, ['--import', preload, cairnFile, ...args]).ended
      const files = stderr.split(' ').filter((url) => url.includes('/dist/server/'))
      const texts = files.map((url) => readFileSync(new URL(url), 'utf8'))
      // The build names the source modules.
      return texts
        .flatMap((text) => [...text.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, name]) => name))
        .join(' ')
    }
    const version = await loaded('--version')
    expect(version).toContain('/commander/')
    expect(version).not.toMatch(/kysely|server\/storage/)
    const help = await loaded('key', '--help')
    expect(help).toContain('/kysely/')
    expect(help).not.toMatch(/\/(express|pino|ajv)\/|server\/(http\/app|main)\.ts|client\/client/)
  })

  it('--version prints the version of the package, also by way of npx', async () => {
    expect(await runCairn(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    // npm keeps its cache there, and not every user of a machine has a writable home.
    const environment = { HOME: temporaryFolder() }
    const npx = await startCommand('npx', ['--no', 'cairn', '--', '--version'], { environment }).ended
    expect(npx).toMatchObject({ code: 0, stdout: `${version}\n` })
  })

  it.each([
    ['no command', [], /^Usage: cairn/],
    ['an unknown command', ['sevre'], /^error: unknown command 'sevre'\n\(Did you mean serve\?\)\n$/],
    [
      'help on an unknown command',
      ['help', 'sevre'],
      /^error: unknown command 'sevre'\n\(Did you mean serve\?\)\n$/,
    ],
    ['--help of an unknown command', ['sevre', '--help'], /^error: unknown command 'sevre'\n/],
    ['help on an unknown command of keys', ['help', 'key', 'craete'], /^error: unknown command 'craete'\n/],
    ['--help of an unknown command of keys', ['key', 'craete', '-h'], /^error: unknown command 'craete'\n/],
    ['an unknown option', ['serve', '--prot', '80'], /^error: unknown option '--prot'/],
    ['one argument too many', ['serve', 'now'], /^error: too many arguments/],
  ])(
    'refuses %s with exit code 2 and prints on standard error what is wrong',
    async (_name, args, message) => {
      const stderr = expect.stringMatching(message)
      expect(await runCairn(args)).toMatchObject({ code: 2, stdout: '', stderr })
    },
  )
})

describe('an output pipe that its reader has closed', () => {
  it('is no failure if it is that of standard error', async () => {
    const command = startCommand(process.execPath, [cairnFile, 'nothing'])
    command.process.stderr?.destroy()
    expect(await command.ended).toMatchObject({ code: 2, stdout: '' })
  })
})

describe.runIf(existsSync('/dev/full'))('an output on a full disk', () => {
  const printing = (args: string, output: string) =>
    startCommand('sh', ['-c', `exec "$0" "$1" ${args} ${output}`, process.execPath, cairnFile]).ended

  it('fails the command with a message', async () => {
    const stderr = expect.stringMatching(/^cairn: cannot write to standard output: ENOSPC.*\n$/)
    expect(await printing('--help', '>/dev/full')).toMatchObject({ code: 1, stderr })
  })

  it('is no failure if it is that of standard error', async () => {
    expect(await printing('nothing', '2>/dev/full')).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('an old Node', () => {
  const message = (found: string) =>
    `Cairn needs Node 22.18 or later, but runs on ${found}. Start it with npm (npm start, npx cairn), ` +
    'which uses the Node installed with Cairn. If npm is set to run no scripts, that Node is missing; ' +
    'install it with: npm rebuild node --ignore-scripts=false\n'

  it.each(['20.20.2', '22.17.9', '9.11.2'])('with version %s gets instructions', async (found) => {
    const refused = await runUnder(found)
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: message(found) })
  })

  it.each(['22.18.0', '23.0.0', '100.0.0'])('is not %s', async (found) => {
    expect(await runUnder(found)).toMatchObject({ code: 0, stdout: `${version}\n` })
  })

  it('on this machine, if there is one, can read the message', async () => {
    const file = ['/usr/bin/node', '/usr/local/bin/node'].find(existsSync) ?? process.execPath
    const { stdout: found } = await startCommand(file, ['-p', 'process.versions.node']).ended
    const [major = 0, minor = 0] = found.split('.').map(Number)
    const isOld = major < 22 || (major === 22 && minor < 18)
    const expected = isOld
      ? { code: 1, stdout: '', stderr: message(found.trim()) }
      : { code: 0, stdout: `${version}\n`, stderr: '' }
    expect(await startCommand(file, [cairnFile, '--version']).ended).toMatchObject(expected)
  })

  /** Runs `cairn --version` on this Node, which pretends to be another version. */
  function runUnder(node: string) {
    const versions = JSON.stringify({ ...process.versions, node })
    const source = `Object.defineProperty(process, 'versions', { value: ${versions} })`
    const preload = `data:text/javascript,${encodeURIComponent(source)}`
    return startCommand(process.execPath, ['--import', preload, cairnFile, '--version']).ended
  }
})
