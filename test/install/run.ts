/**
 * Development: `npm run check:install` installs Cairn as the README describes and serves the result. It takes minutes
 * and uses the registry, so it is a separate step.
 */
import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { processEnvironment } from '../../server/config.ts'

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const root = mkdtempSync(join(tmpdir(), 'cairn-install-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** The reader's environment: without npm's variables for this run, and without the Node that npm puts first. */
const shell = Object.fromEntries(
  Object.entries(processEnvironment()).filter(([name]) => !/^npm_/i.test(name) || /registry$/i.test(name)),
)
shell.PATH = (shell.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

async function bash(command: string, folder: string): Promise<string> {
  const { stdout } = await run('bash', ['-ec', command], { cwd: folder, env: shell })
  return stdout
}

/** Creates a folder with the repository's files, without ignored ones. */
async function clone(name: string): Promise<string> {
  const folder = join(root, name)
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  for (const file of stdout.split('\0').filter(Boolean)) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    cpSync(file, join(folder, file))
  }
  return folder
}

/** Starts a server with the command, runs the checks, and stops it as a supervisor does. */
async function whileServing(
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
async function hasItsPages(url: string) {
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

async function megabytes(folder: string): Promise<number> {
  return Number.parseInt(await bash('du -sm node_modules', folder), 10)
}

/** Returns a command from the README, verbatim. */
function commandOfReadme(text: string): string {
  return blockOf('README.md', 'sh', text)
}

function blockOf(file: string, language: string, text: string): string {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/```(\w*)\n(.*?)```/gs)]
  const found = blocks.find(([, of, block = '']) => of === language && block.includes(text))?.[2]
  if (!found) throw new Error(`${file} has no block with ${text}`)
  return found
}

describe('a clone', () => {
  it('with production dependencies alone serves the interface, and is small', async () => {
    const folder = await clone('production')
    await bash('npm ci --omit=dev', folder)
    ok((await megabytes(folder)) < 300, 'less than 300 MB')
    doesNotMatch(await bash('ls node_modules', folder), /^(vite|rolldown|react|redoc|typescript)$/m)
    equal(await bash('ls dist', folder), 'admin\nguides\nredoc\nserver\n')
    const printed = await whileServing('npm start', folder, hasItsPages)
    doesNotMatch(printed, /not built/)
  })

  it('installed without scripts says what to do, and that does it', async () => {
    const folder = await clone('without-scripts')
    await bash('npm ci --omit=dev --ignore-scripts', folder)
    const own = await bash('node -p "process.versions.node"', folder)
    const [major = 0, minor = 0] = own.split('.').map(Number)
    if (major < 22 || (major === 22 && minor < 18)) {
      const refused = await bash('npm start 2>&1 || true', folder)
      match(refused, /npm rebuild node --ignore-scripts=false/)
    }
    await bash('npm rebuild node --ignore-scripts=false', folder)
    const printed = await whileServing('npm start', folder, async (url) => {
      const { detail } = await (await fetch(`${url}/admin/`)).json()
      equal(detail, 'The administration interface is not built; run npm run build.')
    })
    match(
      printed,
      /The administration interface is not built. Stop the server, run npm run build, and start it again/,
    )
    await bash(blockOf('deploy/operations.md', 'sh', '--ignore-scripts=false'), folder)
    await whileServing('npm start', folder, hasItsPages)
  })
})

describe('a release', () => {
  const tarball = resolve('dist', 'release', `cairn-${version}.tgz`)
  const folder = join(root, 'elsewhere')
  // As a supervisor starts it: npx does not forward signals and would leave the server running.
  const serve = 'env PATH="$PWD/node_modules/.bin:$PATH" cairn serve'

  it('is made by one command, and installed gives a cairn that serves', async () => {
    await bash('npm run release', '.')
    await bash('sha256sum --check SHA256SUMS', resolve('dist', 'release'))
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    await bash(`npm install ${tarball}`, folder)
    ok((await megabytes(folder)) < 300, 'less than 300 MB')
    equal(await bash('npx --no cairn -- --version', folder), `${version}\n`)
    await whileServing(serve, folder, hasItsPages)
  })

  it('of the next version is made by the same command, and passes the tests of versions', async () => {
    const next = join(root, 'next')
    const [major] = version.split('.').map(Number)
    mkdirSync(next)
    await bash(`git ls-files -z | xargs -0 cp --parents --target-directory=${next}`, '.')
    await bash(`ln -s ${resolve('node_modules')} node_modules`, next)
    // Right after a release the changelog has no entry yet.
    await bash(`sed -i 's/^## Unreleased$/&\\n\\n- Something./' CHANGELOG.md`, next)
    await bash(`npm run release -- ${major + 1}.0.0`, next)
    await bash('sha256sum --check SHA256SUMS', join(next, 'dist', 'release'))
    await bash('npm run check:contract && npm run check:generated', next)
    await bash("npx vitest run test/contract/additive.test.ts test/package -t 'last release|version'", next)
  })

  it('has the other commands too, and what they need', async () => {
    const environment = `DATABASE_URL=sqlite:${join(root, 'store.db')}`
    const made = JSON.parse(
      await bash(`${environment} npx --no cairn init --workspace Acme --journey Onboarding --json`, folder),
    )
    const line = {
      client_customer_id: 'u',
      customer_type: 'contact',
      customer_name: 'Ada',
      event_id: 'signed_up',
    }
    writeFileSync(join(folder, 'history.ndjson'), JSON.stringify(line))
    await bash(`${environment} npx --no cairn backup ${join(root, 'copy.db')}`, folder)
    const copy = serve.replace('env', `env DATABASE_URL=sqlite:${join(root, 'copy.db')}`)
    await whileServing(copy, folder, async (url) => {
      const send = `npx --no cairn import history.ndjson --journey ${made.journey_id} --base-url ${url}/v1`
      await bash(`CAIRN_SERVICE_KEY=${made.secret_key} ${send}`, folder)
      const reply = await fetch(`${url}/v1/events`, { headers: { 'x-service-key': made.secret_key } })
      const { data } = await reply.json()
      deepEqual(
        data.map(({ event_id }: { event_id: string }) => event_id),
        ['signed_up'],
      )
    })
  })

  it("has a client that the README's example uses, from an empty folder", async () => {
    const project = join(root, 'project')
    mkdirSync(project)
    const { journey_id, secret_key } = JSON.parse(
      await bash(
        `DATABASE_URL=sqlite:${join(root, 'copy.db')} npx --no cairn init --workspace Own --journey First --json`,
        folder,
      ),
    )
    const copy = serve.replace('env', `env DATABASE_URL=sqlite:${join(root, 'copy.db')}`)
    await whileServing(copy, folder, async (url) => {
      const [setUp, build] = ['npm pkg set type=module', 'npx tsc &&'].map(commandOfReadme)
      const example = blockOf('README.md', 'ts', 'createClient').replaceAll('http://127.0.0.1:3000', url)
      await bash(`${setUp}`.replace('../cairn/', `${resolve('dist', 'release')}/`), project)
      writeFileSync(join(project, 'first-event.ts'), example)
      const keys = `export JOURNEY_ID=${journey_id} CAIRN_SERVICE_KEY=`
      const printed = await bash(`${keys}${secret_key}\n${build}`, project)
      match(printed, /customer_id: 'cus_\w+', created: true/)
      match(printed, /success: true,\s+id: 'evt_\w+',\s+duplicate: false/)
      await rejects(bash(`${keys}sk_wrong\n${build}`, project), /invalid_key|"code":"\w+"/)
    })
  })
})
