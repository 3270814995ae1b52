// engines: sqlite (the documents start with SQLite)

import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { settings } from '../server/config.ts'
import { type Cairn, startCairn, startCairnForTest } from './fixtures/cairn.ts'
import { runCairn } from './fixtures/command.ts'
import { browser, newEmail, OWN_PAGE } from './fixtures/people.ts'

const run = promisify(execFile)
const readme = readFileSync('README.md', 'utf8')
/** The documents of the repository, by path. */
const documents = new Map(
  globSync(['*.md', '{client,deploy,server,test}/**/*.md'], { exclude: ['**/node_modules/**'] }).map(
    (path) => [path, readFileSync(path, 'utf8')],
  ),
)
const blocks = [...readme.matchAll(/```(\w*)\n(.*?)```/gs)].map(([, language = '', text = '']) => ({
  language,
  text,
}))

let cairn: Cairn
/** The shell variables that the reader has set. */
const shell: Record<string, string> = {}

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** Runs a command of the README against a server. */
async function execute(command: string, { url, databaseUrl } = cairn, variables = shell): Promise<string> {
  const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:3000', url)], {
    // biome-ignore lint/style/noProcessEnv: the command runs in the reader's shell
    env: { ...process.env, ...variables, DATABASE_URL: databaseUrl },
  })
  return stdout
}

/** The first block of a language after the text. */
function blockAfter(text: string, language: string): string {
  const start = blocks.findIndex((block) => block.text.includes(text))
  const found = blocks.slice(start + 1).find((block) => block.language === language)
  return found?.text ?? ''
}

function block(text: string): string {
  return blocks.find((block) => block.text.includes(text))?.text ?? ''
}

/** A response without what differs from run to run. */
function shape(json: string): unknown {
  return JSON.parse(json, (_name, value) => {
    if (typeof value !== 'string') return value
    return value.replace(/_[0-9a-z]{26}$/, '_…').replace(/^\d{4}-.*Z$/, 'time')
  })
}

// Its examples use what the ones before them have made.
describe('the README', { shuffle: false }, () => {
  it('has the two commands that CI runs on a clean machine', () => {
    // In two blocks, because the first command runs until it is stopped.
    expect(block('npm start')).toBe('npm ci && npm start\n')
    expect(block('npm test')).toBe('npm ci && npm test\n')
    const steps = readFileSync('.ci/run', 'utf8').split('\n')
    expect(steps).toEqual(expect.arrayContaining(['step npm ci', 'step npm test']))
  })

  it('creates a workspace, registers a customer, saves an event and reads it back', async () => {
    const made = await execute(block('npx cairn init'))
    const rows = Object.fromEntries(made.split('\n').map((line) => line.split(/\s+/)))
    const shown = blockAfter('npx cairn init', '')
    expect(made.replace(/(?<=_)[0-9A-Za-z]{26,}/g, '…')).toBe(shown.replace(/(?<=_)[0-9a-z]{26}/g, '…'))
    Object.assign(shell, { JOURNEY_ID: rows.journey_id, CAIRN_SERVICE_KEY: rows.secret_key })

    const customer = await execute(block('/customers/initialize'))
    expect(shape(customer)).toEqual(shape(blockAfter('/customers/initialize', 'json')))
    shell.CUSTOMER_ID = JSON.parse(customer).customer_id

    const event = await execute(block('/events/create'))
    expect(shape(event)).toEqual(shape(blockAfter('/events/create', 'json')))
    const resend = JSON.parse(await execute(block('/events/create')))
    expect(resend).toEqual({ ...JSON.parse(event), duplicate: true })

    const timeline = JSON.parse(await execute(block('$CUSTOMER_ID/events')))
    expect(timeline.data).toMatchObject([
      { event_id: 'signed_up', custom_variables: { plan: 'team', seats: 12 } },
    ])
  })

  it('leads to one workspace, whether it is created in the browser or in the shell', async () => {
    const setUp = (cairn: Cairn, change: object) => {
      const token = cairn.setupLink?.split('#token=')[1] ?? ''
      const person = { name: 'Ada Lovelace', email: newEmail(), password: 'nine-lives-of-a-moth' }
      return browser(cairn, OWN_PAGE)
        .client()
        .setUp({ body: { token, ...person, ...change } })
    }
    const fromShell = await startCairnForTest()
    const made = await execute(block('npx cairn init'), fromShell)
    const { data: owner } = await setUp(fromShell, {})
    expect(owner?.workspaces).toMatchObject([{ name: 'Acme', role: 'owner' }])
    expect(made).toContain(owner?.workspaces[0]?.workspace_id)

    const fromBrowser = await startCairnForTest()
    await setUp(fromBrowser, { workspace_name: 'Acme', journey_name: 'Onboarding' })
    const key = /sk_\w+/.exec(await execute(block('npx cairn key create'), fromBrowser))?.[0] ?? ''
    const journeys = await execute(block('/v1/journeys'), fromBrowser, { CAIRN_SERVICE_KEY: key })
    expect(JSON.parse(journeys).data).toMatchObject([{ name: 'Onboarding' }])
  })

  it('says what a journey and the types of customers are before it uses the words', () => {
    const meaning =
      /A \*journey\* is .+ A\s\*customer\* is a \*contact\*, which is a person, or an \*account\*/s
    expect(readme.search(meaning)).toBeGreaterThan(-1)
    expect(readme.search(meaning)).toBeLessThan(readme.indexOf('customer_type'))
  })

  it('does the same from TypeScript in eleven lines, and prints both answers', async () => {
    mkdirSync('dist', { recursive: true })
    const packed = await execute(`${block('npm pack').trim()} --pack-destination dist`)
    expect(packed.trim()).toMatch(/^cairn-client-.*\.tgz$/m)
    expect(readme).toContain(`npm install ../cairn/${packed.trim().split('\n').at(-1)}`)
    const example = block('createClient').replaceAll('http://127.0.0.1:3000', cairn.url)
    expect(example.match(/^.+$/gm)?.length).toBeLessThanOrEqual(11)
    writeFileSync('dist/readme-example.ts', example)
    const printed = await execute('node dist/readme-example.ts')
    expect(printed).toMatch(/customer_id: 'cus_\w+', created: false/)
    expect(printed).toMatch(/success: true,\s+id: 'evt_\w+',\s+duplicate: false/)
    const timeline = JSON.parse(await execute(block('$CUSTOMER_ID/events')))
    expect(timeline.data[0]).toMatchObject({ event_id: 'plan_chosen' })
  })

  it('takes one sitting', () => {
    expect(Buffer.byteLength(readme)).toBeLessThan(12_000)
  })

  it('lists every setting with its default', () => {
    for (const { name, default: value, description } of settings) {
      expect(readme).toContain(`| \`${name}\` | ${value ? `\`${value}\`` : 'none'} | ${description} |`)
    }
  })
})

describe('the documents', () => {
  it('manage keys as they describe', async () => {
    const { text } = blockOfDocument('deploy/operations.md', 'npx cairn key create')
    const [create = '', list = '', rotate = '', revoke = ''] = text.trim().split('\n')
    const cairn = await startCairnForTest()
    await execute(block('npx cairn init'), cairn)
    const made = await execute(create, cairn)
    const key_id = /key_[0-9a-z]{26}/.exec(made)?.[0] ?? ''
    expect(await execute(list, cairn)).toContain(key_id)
    expect(await execute(rotate.replace('KEY_ID', key_id), cairn)).toMatch(/pk_/)
    expect(await execute(revoke.replace('KEY_ID', key_id), cairn)).toContain('revoked')
  })

  it('name scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const named = [...documents.values()].flatMap((text) =>
      [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...new Set(named)]))
  })

  it('link to files, and to headings, that exist', () => {
    let count = 0
    const broken: string[] = []
    for (const [path, text] of documents) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^\w+:/.test(target)) continue
        count += 1
        const [file = '', anchor] = target.split('#')
        const linked = file === '' ? path : join(dirname(path), file)
        const headings = anchor === undefined ? undefined : anchorsOf(linked)
        if (!existsSync(linked) || headings?.has(anchor ?? '') === false) broken.push(`${path}: ${target}`)
      }
    }
    expect(count).toBeGreaterThan(100)
    expect(broken).toEqual([])
  })

  it('use commands and options that cairn has', async () => {
    const given = new Map<string, Set<string>>()
    for (const text of documents.values()) {
      for (const [, words = '', rest = ''] of text.matchAll(
        /npx cairn ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)([^`\n]*)/g,
      )) {
        const options = given.get(words) ?? new Set()
        given.set(words, options)
        for (const [option] of rest.matchAll(/--[a-z][a-z-]*/g)) options.add(option)
      }
    }
    expect(given.size).toBeGreaterThan(10)
    for (const [words, options] of given) {
      const { stdout: help } = await runCairn([...words.split(' '), '--help'])
      expect(help).toContain('Usage: cairn ')
      for (const option of options) expect(`${words}: ${help}`).toContain(option)
    }
  })
})

function blockOfDocument(path: string, text: string): { text: string } {
  const found = [...(documents.get(path) ?? '').matchAll(/```\w*\n(.*?)```/gs)].find(([, block = '']) =>
    block.includes(text),
  )
  if (!found) throw new Error(`${path} has no block with ${text}`)
  return { text: found[1] ?? '' }
}

/** The anchors of a document's headings, as GitHub generates them. */
function anchorsOf(path: string): Set<string> {
  const headings = existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)] : []
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}
