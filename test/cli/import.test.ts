import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairn, startCairnForTest, temporaryFolder, type Workspace } from '../cairn.ts'
import { startChildServerWithCustomer } from '../child-server.ts'
import { type Command, cairnFile, runCairn, startCommand } from '../command.ts'
import { withPatience } from '../patience.ts'

type EventLine = Partial<Schemas['EventCreation']> & Record<string, unknown>

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** A workspace of its own and a folder to import from. */
async function newImport() {
  const workspace = await cairn.workspace()
  return { ...workspace, ...importerOf(`${cairn.url}/v1`, workspace.secret_key, workspace.journey_id) }
}

function importerOf(baseUrl: string, key: string, journey_id?: string) {
  const folder = temporaryFolder()
  const file = join(folder, 'events.ndjson')
  const options = {
    environment: { CAIRN_SERVICE_KEY: key, DATABASE_URL: `sqlite:${folder}/none.db` },
    folder,
  }
  const journey = journey_id === undefined ? [] : ['--journey', journey_id]
  const args = (path: string, more: string[]) => {
    return ['import', path, '--base-url', baseUrl, ...journey, '--json', ...more]
  }
  return {
    folder,
    file,
    write: (lines: readonly (object | string)[]) => writeFileSync(file, textOf(lines)),
    /** Imports a file and gives what it printed, the summary as an object. */
    async import(path = file, ...more: string[]) {
      const { code, stdout, stderr } = await runCairn(args(path, more), options)
      return { code, stderr, summary: stdout === '' ? undefined : JSON.parse(stdout) }
    },
    start: (path = file, ...more: string[]): Command => {
      return startCommand(process.execPath, [cairnFile, ...args(path, more)], options)
    },
    refused: (path = `${file}.refused.ndjson`) => {
      return readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
  }
}

function textOf(lines: readonly (object | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** A line that names its customer by the caller's own identifiers. */
function ownEvent(n: number, more: EventLine = {}): EventLine {
  const customer = {
    client_customer_id: `user-${n % 7}`,
    customer_type: 'contact',
    customer_name: `Ada ${n % 7}`,
  }
  return { ...customer, event_id: 'signed_up', custom_variables: { n }, ...more }
}

async function listAll(client: Workspace['client']): Promise<Schemas['Event'][]> {
  const events: Schemas['Event'][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, error } = await client.listEvents({ query: { limit: 500, ...(cursor && { cursor }) } })
    if (error) throw new Error(error.detail)
    events.push(...data.data)
    cursor = data.next_cursor
  }
  return events
}

/** The `n` of the events that are stored, in order. */
async function storedNumbers(client: Workspace['client']): Promise<unknown[]> {
  const variables = (await listAll(client)).map(({ custom_variables }) => Object(custom_variables).n)
  return variables.toSorted((a, b) => a - b)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

describe('cairn import', () => {
  it('stores events of customers that it initializes, and nothing twice when it is run again', async () => {
    const { client, write, ...own } = await newImport()
    write([
      { client_customer_id: 'acme', customer_type: 'account', customer_name: 'Acme' },
      {
        client_customer_id: 'acme',
        customer_type: 'account',
        event_id: 'trial_begun',
        occurred_at: '2026-01-01T00:00:00Z',
      },
      ...upTo(20).map((n) => ownEvent(n)),
      ownEvent(3),
      ownEvent(3),
    ])
    const first = await own.import()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const counts = { lines: 24, refused: 0, customers: 8 }
    expect(first.summary).toMatchObject({ ...counts, created: 23, duplicate: 0, new_customers: 8 })
    expect(existsSync(`${own.file}.refused.ndjson`)).toBe(false)
    const events = await listAll(client)
    expect(events.filter(({ custom_variables }) => Object(custom_variables).n === 3)).toHaveLength(3)
    const { data: customers } = await client.listCustomers({ query: { customer_type: 'account' } })
    expect(customers?.data).toMatchObject([{ client_customer_id: 'acme', customer_name: 'Acme' }])
    const trial = events.find(({ event_id }) => event_id === 'trial_begun')
    expect(trial).toMatchObject({
      customer_id: customers?.data[0]?.customer_id,
      occurred_at: '2026-01-01T00:00:00.000Z',
    })

    const again = await own.import()
    expect(again.summary).toMatchObject({ ...counts, created: 0, duplicate: 23, new_customers: 0 })
    expect(await listAll(client)).toHaveLength(23)
  })

  it('recognises what a moved file that has grown said before', async () => {
    const { client, folder, write, ...own } = await newImport()
    write([...upTo(5).map((n) => ownEvent(n)), ownEvent(1)])
    expect((await own.import()).summary).toMatchObject({ created: 6 })
    const moved = join(folder, 'moved.ndjson')
    writeFileSync(moved, readFileSync(own.file, 'utf8') + textOf([ownEvent(5), ownEvent(1)]))
    expect((await own.import(moved)).summary).toMatchObject({ created: 2, duplicate: 6 })
    expect(await storedNumbers(client)).toEqual([0, 1, 1, 1, 2, 3, 4, 5])
  })

  it('stops at the first line where lines need a journey, and names the option', async () => {
    const { client, secret_key } = await newImport()
    const own = importerOf(`${cairn.url}/v1`, secret_key)
    own.write(Array.from({ length: 3000 }, (_, index) => ownEvent(index)))
    const stderr =
      'cairn: line 1 names no journey. Say with --journey JOURNEY_ID which one is that of lines without a journey_id.\n'
    for (const more of [[], ['--dry-run']]) {
      const { summary, ...ended } = await own.import(own.file, ...more)
      expect(ended).toEqual({ code: 2, stderr })
      expect(summary).toMatchObject({ lines: 1, created: 0, refused: 0 })
    }
    expect(existsSync(`${own.file}.refused.ndjson`)).toBe(false)
    expect((await client.listCustomers()).data?.data).toEqual([])
  })

  it('refuses a line without a journey where others have named theirs, and names the option', async () => {
    const { secret_key, journey_id } = await newImport()
    const own = importerOf(`${cairn.url}/v1`, secret_key)
    own.write(['{"a":1}', ownEvent(1, { journey_id }), ownEvent(2)])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 2 } })
    expect(own.refused()).toMatchObject([
      { line_number: 1, code: 'ambiguous_line' },
      { line_number: 3, code: 'invalid_request', detail: expect.stringContaining('--journey') },
    ])
  })

  it('takes events by customer_id after the line that enters the customer in the journey', async () => {
    const { client, write, journey_id, ...own } = await newImport()
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    const { data: customer } = await client.initializeCustomer({ body: { ...names, journey_id } })
    const { data: journey } = await client.createJourney({ body: { name: 'Renewal' } })
    const renewal = { journey_id: journey?.journey_id }
    const event = { ...renewal, customer_id: customer?.customer_id, event_id: 'renewed' }
    write([
      { ...event, message_id: 'early' },
      { ...names, ...renewal },
      ...upTo(3).map((n) => ({ ...event, message_id: `m-${n}` })),
    ])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 3, refused: 1 } })
    expect(own.refused()).toMatchObject([{ line_number: 1, code: 'customer_not_in_journey' }])
    expect((await listAll(client)).map(({ message_id }) => message_id).toSorted()).toEqual([
      'm-0',
      'm-1',
      'm-2',
    ])
    expect(await own.import()).toMatchObject({ code: 0, summary: { created: 1, duplicate: 3, refused: 0 } })
  })

  it('keeps the name of a customer whose line has none', async () => {
    const { client, write, journey_id, publishable_key, ...own } = await newImport()
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    await client.initializeCustomer({ body: { ...names, journey_id } })
    const { customer_name: _, ...unnamed } = names
    write([
      { ...unnamed, event_id: 'signed_up' },
      { ...unnamed, client_customer_id: 'user-2', event_id: 'signed_up' },
    ])
    expect((await own.import()).summary).toMatchObject({ created: 2, customers: 2, new_customers: 1 })
    const { data } = await client.listCustomers()
    expect(data?.data.map(({ customer_name }) => customer_name)).toEqual(['user-2', 'Ada'])

    const published = importerOf(`${cairn.url}/v1`, publishable_key, journey_id)
    published.write([{ ...unnamed, event_id: 'signed_up' }, ownEvent(1)])
    expect(await published.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 1 } })
    expect(published.refused()).toMatchObject([{ line_number: 1, code: 'customer_name_required' }])
  })

  it('puts each refused line in a file with its reason, and its neighbours in the store', async () => {
    const { client, write, ...own } = await newImport()
    const good = upTo(30).map((n) => ownEvent(n))
    const bad = [
      '{"event_id": "signed_up"',
      '[1]',
      { event_id: 'signed_up', customer_id: 'cus_1', client_customer_id: 'user-1' },
      { client_customer_id: 'user-1', customer_type: 'contact', custom_variables: {} },
      { seats: 1 },
      ownEvent(31, { evnt: 1 }),
      ownEvent(32, { occurred_at: 'yesterday' }),
      ownEvent(33, { journey_id: 'jrn_none' }),
      ownEvent(34, { occurred_at: '2999-01-01T00:00:00Z' }),
      ownEvent(35, { client_customer_id: 7 }),
      { event_id: 'signed_up', customer_id: 'cus_none' },
      { client_customer_id: 'user-9', customer_type: 'person', customer_name: 'Ada' },
      '{"client_customer_id": "a", "client_customer_id": "b", "customer_type": "contact", "customer_name": "A"}',
      ownEvent(36, { custom_variables: { text: 'x'.repeat(70_000) } }),
      `{"event_id": "${'x'.repeat(1_100_000)}"}`,
    ]
    write(bad.flatMap((line, index) => [...good.slice(index * 2, index * 2 + 2), '', line]))
    const made = await own.import()
    expect(made).toMatchObject({ code: 4, summary: { lines: 45, created: 30, refused: 15 } })
    expect(made.stderr).toBe(
      `The refused lines are in ${own.file}.refused.ndjson.\ncairn: 15 lines were refused\n`,
    )
    expect(await storedNumbers(client)).toEqual(upTo(30))

    const refused = own.refused().toSorted((a, b) => a.line_number - b.line_number)
    expect(refused.map(({ line_number }) => line_number)).toEqual(upTo(15).map((n) => n * 4 + 4))
    expect(refused.map(({ code, detail }) => [code, detail])).toEqual([
      ['invalid_json', expect.stringMatching(/^is not JSON: .+ at line 1, column 25$/)],
      ['not_an_object', 'A line must be a JSON object.'],
      ['ambiguous_line', 'Names the customer twice: by customer_id and by client_customer_id.'],
      ['ambiguous_line', 'Has custom_variables like an event, but no event_id.'],
      ['ambiguous_line', 'Has neither event_id nor client_customer_id.'],
      ['invalid_request', expect.stringMatching(/^evnt: is not a field/)],
      ['invalid_request', expect.stringMatching(/^occurred_at: /)],
      ['journey_not_found', expect.any(String)],
      ['occurred_at_in_future', expect.any(String)],
      ['invalid_request', expect.stringMatching(/^client_customer_id: /)],
      ['customer_not_found', expect.any(String)],
      ['invalid_request', expect.stringMatching(/^customer_type: /)],
      ['invalid_json', 'client_customer_id: must be given once'],
      ['event_too_large', expect.any(String)],
      ['line_too_long', 'A line may have 1048576 bytes at the most.'],
    ])
    expect(refused[0].line).toBe(bad[0])
    expect(refused[6].line).toEqual({ ...Object(bad[6]), message_id: expect.stringMatching(/^import:/) })
    expect(refused[14].line).toBeNull()
    expect(statSync(`${own.file}.refused.ndjson`).mode & 0o777).toBe(0o600)

    const corrected = { ...refused[6].line, occurred_at: '2026-01-01T00:00:00Z' }
    writeFileSync(own.file, textOf([corrected]))
    expect(await own.import()).toMatchObject({ code: 0, summary: { created: 1 } })
  })

  it('keeps refused lines from others in a file that everybody could read', async () => {
    const own = await newImport()
    own.write(['{'])
    for (const path of [`${own.file}.refused.ndjson`, join(own.folder, 'named.ndjson')]) {
      writeFileSync(path, '')
      chmodSync(path, 0o644)
      expect(
        await own.import(own.file, ...(path.includes('named') ? ['--refused', path] : [])),
      ).toMatchObject({ code: 4 })
      expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o600])
    }
  })

  it('does not take the file that it reads for refused lines, under any of its names', async () => {
    const own = await newImport()
    own.write([ownEvent(1), '{'])
    const before = readFileSync(own.file, 'utf8')
    const names = { link: join(own.folder, 'link'), hardLink: join(own.folder, 'hard-link') }
    symlinkSync(own.file, names.link)
    linkSync(own.file, names.hardLink)
    for (const path of [own.file, names.link, names.hardLink]) {
      const { code, stderr } = await own.import(own.file, '--refused', path)
      expect([code, stderr]).toEqual([
        2,
        `cairn: ${path} is the file to import; name another with --refused\n`,
      ])
    }
    expect(readFileSync(own.file, 'utf8')).toBe(before)
  })

  it('follows no link where it makes the name up', async () => {
    const own = await newImport()
    own.write(['{'])
    const precious = join(own.folder, 'precious')
    writeFileSync(precious, 'precious')
    const path = `${own.file}.refused.ndjson`
    symlinkSync(precious, path)
    expect(await own.import()).toMatchObject({ code: 3, stderr: expect.stringContaining('is no plain file') })
    rmSync(path)
    linkSync(precious, path)
    expect(await own.import()).toMatchObject({ code: 4 })
    expect(readFileSync(precious, 'utf8')).toBe('precious')
  })

  it('takes the file of refused lines, when they are corrected there', async () => {
    const { client, write, ...own } = await newImport()
    write([ownEvent(1), ownEvent(2, { occurred_at: 'yesterday' }), ownEvent(3, { evnt: 1 })])
    await own.import()
    const text = readFileSync(`${own.file}.refused.ndjson`, 'utf8')
    writeFileSync(own.file, text.replace('yesterday', '2026-01-01T00:00:00Z'))
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 1 } })
    expect(own.refused()).toMatchObject([{ line: ownEvent(3, { evnt: 1 }) }])
    writeFileSync(own.file, textOf(own.refused()).replace('"evnt":1,', ''))
    expect(await own.import()).toMatchObject({ code: 0, summary: { created: 1 } })
    expect(await storedNumbers(client)).toEqual([1, 2, 3])
  })

  it('takes a batch apart in which most lines are faulty', async () => {
    const { client, write, ...own } = await newImport()
    write(upTo(1500).map((n) => ownEvent(n, n % 5 === 0 ? {} : { evnt: 1, other: 2 })))
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 300, refused: 1200 } })
    expect(await storedNumbers(client)).toEqual(upTo(300).map((n) => n * 5))
    expect(new Set(own.refused().map(({ line_number }) => line_number)).size).toBe(1200)
  })

  it('reads the standard input, gzip, CRLF, a byte order mark and a last line without an end', async () => {
    const { client, write, secret_key, journey_id, ...own } = await newImport()
    const text = `\ufeff${textOf(upTo(3).map((n) => ownEvent(n))).replaceAll('\n', '\r\n\r\n')}${JSON.stringify(ownEvent(3))}`
    const zipped = join(own.folder, 'events.gz')
    writeFileSync(own.file, text)
    writeFileSync(zipped, gzipSync(text))
    expect(await own.import()).toMatchObject({ code: 0, summary: { lines: 4, created: 4 } })
    expect(await own.import(zipped)).toMatchObject({
      code: 0,
      summary: { lines: 4, created: 0, duplicate: 4 },
    })
    const piped = ['-c', 'cat "$0" | "$@"', zipped, process.execPath, cairnFile, 'import', '-', '--json']
    const to = ['--base-url', `${cairn.url}/v1`, '--journey', journey_id]
    const environment = { CAIRN_SERVICE_KEY: secret_key }
    const { code, stdout } = await startCommand('bash', [...piped, ...to], { environment }).ended
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { lines: 4, duplicate: 4 }])
    expect(await storedNumbers(client)).toEqual(upTo(4))

    writeFileSync(zipped, gzipSync(text).subarray(0, -9))
    expect(await own.import(zipped)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unexpected end'),
    })
  })

  it('killed half way and run again stores each of 20,000 lines once', async () => {
    const { server, client, secret_key, event } = await startChildServerWithCustomer()
    const own = importerOf(`${server.url}/v1`, secret_key, event.journey_id)
    own.write(upTo(20_000).map((n) => ownEvent(n, { client_customer_id: `user-${n % 500}` })))
    const killed = own.start()
    const hasBegun = async () =>
      (await client.listEvents({ query: { limit: 500 } })).data?.next_cursor != null
    await vi.waitUntil(hasBegun, { ...withPatience, interval: 5 })
    killed.process.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
    const before = (await listAll(client)).length
    expect(before).toBeLessThan(20_000)

    const again = await own.import()
    expect(again).toMatchObject({
      code: 0,
      summary: { lines: 20_000, duplicate: before, created: 20_000 - before },
    })
    expect(await storedNumbers(client)).toEqual(upTo(20_000))
  })

  it('ends what is on its way on SIGINT, and says that it can be run again', async () => {
    const { client, ...own } = await newLimitedImport(50)
    own.write(upTo(2000).map((n) => ownEvent(n)))
    const command = own.start()
    const hasBegun = async () => (await client.listEvents()).data?.data.length
    await vi.waitUntil(hasBegun, { ...withPatience, interval: 5 })
    command.process.kill('SIGINT')
    const { code, stdout, stderr } = await command.ended
    expect([code, stderr]).toEqual([
      130,
      expect.stringMatching(/^cairn: interrupted\. Run the same command again/m),
    ])
    const stored = (await listAll(client)).length
    expect(JSON.parse(stdout)).toMatchObject({ created: stored, refused: 0 })
    expect(stored).toBeLessThan(2000)
  })

  it('keeps to the rate of its key, and says that this holds it', async () => {
    // So few that the rate holds it on a busy machine too, and not the machine.
    const { client, log, ...own } = await newLimitedImport(20)
    own.write(upTo(180).map((n) => ownEvent(n)))
    const { code, summary, stderr } = await own.import()
    expect([code, summary]).toMatchObject([0, { created: 180, refused: 0 }])
    // 40 at once, the rest at 20 a second.
    expect(summary.seconds).toBeGreaterThan(6)
    expect(summary.held_seconds).toBeGreaterThan(3)
    expect(stderr).toMatch(/^\d+ %, \d+ created, .+, held by the rate limit of 20 events\/s$/m)
    expect(await storedNumbers(client)).toEqual(upTo(180))
    const refused = log.filter(({ status }) => status === 429)
    expect(refused).toEqual([])
  })

  it('sends again after 429 for as long as it takes', async () => {
    const { client, secret_key, journey_id } = await newImport()
    // More often than the client itself would try.
    const baseUrl = await startFaultyProxy(cairn.url, (count) => (count <= 6 ? 429 : undefined))
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    own.write([ownEvent(1)])
    const { code, summary } = await own.import(own.file, '--give-up-after', '1s')
    expect([code, summary]).toMatchObject([0, { created: 1, refused: 0 }])
    expect(summary.held_seconds).toBeGreaterThan(5)
    expect(await storedNumbers(client)).toEqual([1])
  })

  it('stops at a key that the server refuses, and does not print it', async () => {
    const { client, write, journey_id, ...own } = await newImport()
    const key = `sk_${'x'.repeat(49)}`
    const stranger = importerOf(`${cairn.url}/v1`, key, journey_id)
    stranger.write(upTo(5).map((n) => ownEvent(n)))
    const refused = await stranger.import()
    expect(refused).toMatchObject({ code: 2, summary: { created: 0, refused: 0 } })
    expect(refused.stderr).toMatch(
      /^cairn: the server refuses the key: unauthorized\. .+ Run the same command again/,
    )
    expect(refused.stderr).not.toContain(key)

    const keyFile = join(own.folder, 'key')
    writeFileSync(keyFile, `${own.secret_key}\n`)
    expect(await stranger.import(stranger.file, '--key-file', keyFile)).toMatchObject({
      code: 0,
      summary: { created: 5 },
    })
    expect(await storedNumbers(client)).toEqual(upTo(5))
    const none = await runCairn(['import', stranger.file])
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Set CAIRN_SERVICE_KEY'),
    })
  })

  it('gives up on a server that stays away, and says how to go on', async () => {
    const { secret_key, journey_id } = await newImport()
    const port = await freePort()
    const own = importerOf(`http://127.0.0.1:${port}/v1`, secret_key, journey_id)
    own.write([ownEvent(1)])
    const made = await own.import(own.file, '--give-up-after', '1s')
    expect(made).toMatchObject({ code: 1, summary: { created: 0, refused: 0 } })
    expect(made.stderr).toMatch(
      /^cairn: http:\S+ could not take anything for 1 s: .*ECONNREFUSED.*\. Run the same/,
    )
  })

  it('stores each line once through answers that are lost and a server that is away for a time', async () => {
    const { client, secret_key, journey_id } = await newImport()
    const faults = [503, 'dropped', 'lost', undefined, undefined] as const
    const baseUrl = await startFaultyProxy(cairn.url, (count) => faults[count % 5])
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    own.write(upTo(2000).map((n) => ownEvent(n)))
    expect(await own.import()).toMatchObject({ code: 0, summary: { lines: 2000, refused: 0 } })
    expect(await storedNumbers(client)).toEqual(upTo(2000))
  })

  it('--dry-run sends nothing and needs no key', async () => {
    const { client, write, ...own } = await newImport()
    write([ownEvent(1), '{'])
    const { code, stdout } = await runCairn(['import', own.file, '--dry-run', '--journey', 'jrn_any'])
    expect([code, stdout]).toEqual([4, '2 lines read, 1 of them refused; nothing was sent\n'])
    expect(await listAll(client)).toEqual([])
  })

  it('says what is wrong with its arguments', async () => {
    const { folder, ...own } = await newImport()
    own.write([ownEvent(1)])
    expect(await own.import(join(folder, 'none'))).toMatchObject({
      code: 3,
      stderr: `cairn: there is no file ${folder}/none\n`,
    })
    expect(await own.import(folder)).toMatchObject({ code: 2, stderr: `cairn: ${folder} is a folder\n` })
    const wrong = await own.import(own.file, '--base-url', 'cairn.example.com')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('https://cairn.example.com/v1') })
    const elsewhere = await own.import(own.file, '--base-url', cairn.url)
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('--base-url') })
  })
})

/** On a server of its own, with a key that has a rate. */
async function newLimitedImport(rate: number) {
  const limited = await startCairnForTest()
  const { client, journey_id } = await limited.workspace()
  const create = [
    'key',
    'create',
    '--kind',
    'secret',
    '--name',
    'Import',
    '--rate-limit',
    String(rate),
    '--json',
  ]
  const made = await runCairn(create, { environment: { DATABASE_URL: limited.databaseUrl } })
  const { key } = JSON.parse(made.stdout)
  return { client, log: limited.log, ...importerOf(`${limited.url}/v1`, key, journey_id) }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await vi.waitUntil(() => server.listening, withPatience)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** What becomes of a request: a status without more, no answer, or an answer that is lost when all is done. */
type Fault = 429 | 503 | 'dropped' | 'lost' | undefined

/** Hands requests on, but for the faults that `faultOf` wants, counted from 1. */
async function startFaultyProxy(target: string, faultOf: (count: number) => Fault): Promise<string> {
  let count = 0
  const server = createServer((incoming, outgoing) => {
    count += 1
    const fault = faultOf(count)
    if (fault === 'dropped') return incoming.destroy()
    if (typeof fault === 'number') return incoming.resume().on('end', () => outgoing.writeHead(fault).end())
    const { method, headers } = incoming
    const forwarded = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      if (fault === 'lost') return answer.resume().on('end', () => outgoing.destroy())
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      return answer.pipe(outgoing)
    })
    return incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await vi.waitUntil(() => server.listening, withPatience)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
