// engines: sqlite, postgres

import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { type Cairn, temporaryFolder } from '../fixtures/cairn.ts'
import { cairnFile, runCairn, spawnCairn, startCommand } from '../fixtures/command.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { freePort } from '../fixtures/free-port.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { startFaultyProxy } from './importer.ts'

/** What is printed if the machine is so busy that an export takes seconds. */
const PROGRESS = /^(?:\d+ \w+|waiting for the server: .+|checking the files .+)\n/gm

/** Returns functions that run `cairn export` for a workspace, in a folder of their own. */
async function newExport(cairn: Cairn, count: number) {
  const { workspace, event } = await customerInJourney(cairn)
  const folder = temporaryFolder()
  const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
  const args = (list: string, file: string, more: string[], baseUrl = `${cairn.url}/v1`) => {
    return ['export', list, join(folder, file), '--base-url', baseUrl, '--json', ...more]
  }
  const send = async (events: number) => {
    const ids: string[] = []
    for (let sent = 0; sent < events; sent += 1000) {
      const body = { events: Array.from({ length: Math.min(1000, events - sent) }, () => event) }
      const { data } = await workspace.client.createEvents({ body })
      ids.push(...(data?.results.flatMap(({ id }) => id ?? []) ?? []))
    }
    return ids
  }
  return {
    workspace,
    event,
    folder,
    send,
    ids: await send(count),
    export: async (list: string, file: string, ...more: string[]) => {
      const { stderr, ...ended } = await runCairn(args(list, file, more), { environment })
      return { ...ended, stderr: stderr.replace(PROGRESS, '') }
    },
    exportFrom: (baseUrl: string, list: string, file: string, ...more: string[]) =>
      runCairn(args(list, file, more, baseUrl), { environment }),
    start: (list: string, file: string, baseUrl: string, ...more: string[]) =>
      spawnCairn(args(list, file, more, baseUrl), { environment }),
    lines: (file: string) => linesOf(join(folder, file)),
  }
}

function linesOf(path: string): Record<string, unknown>[] {
  const text = readFileSync(path, 'utf8')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

/**
 * A proxy that forwards a number of requests and then leaves all others unanswered.
 * @param isBroken whether the response to the request with this number, which has this text, is cut off in the middle
 * @param ready what a request waits for before it is forwarded
 * @param changed what is sent instead of a response
 */
async function startStalling(
  cairn: Cairn,
  passed: number,
  {
    isBroken = () => false,
    ready = async () => {},
    changed = (text) => text,
  }: {
    isBroken?: (request: number, text: string) => boolean
    ready?: () => Promise<unknown>
    changed?: (text: string, path: string) => string
  } = {},
) {
  let requests = 0
  const server = createServer(async (req, res) => {
    requests += 1
    if (requests > passed) return
    const request = requests
    await ready()
    const key = String(req.headers['x-service-key'])
    const answer = await fetch(cairn.url + req.url, { headers: { 'x-service-key': key } })
    const { status, headers } = answer
    const given = ['content-type', 'content-disposition'].map((name) => [name, headers.get(name)])
    res.writeHead(status, Object.fromEntries(given.filter(([, value]) => value !== null)))
    const text = changed(await answer.text(), new URL(req.url ?? '', cairn.url).pathname)
    if (!isBroken(request, text)) return void res.end(text)
    res.write(text.slice(0, Math.floor(Math.random() * text.length)), () => res.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, requests: () => requests }
}

describe('cairn export', () => {
  it('leaves nothing behind where it is refused at the start, and says which argument to change', async ({
    cairn,
  }) => {
    const own = await newExport(cairn, 0)
    for (const [filter, message] of [
      ['event_id', 'Use the form name=value'],
      ['event_id=', 'Use the form name=value'],
      ['received_from=yesterday', 'refused: received_from: '],
    ] as const) {
      const stderr = expect.stringContaining(message)
      expect(await own.export('events', 'a.ndjson', '--filter', filter)).toMatchObject({ code: 2, stderr })
    }
    for (const [baseUrl, code] of [
      [cairn.url, 1],
      [`${cairn.url}/docs`, 1],
      [`${cairn.url}/v1#x`, 2],
      [`${cairn.url}/v1?x=1`, 2],
    ] as const) {
      const stderr = expect.stringContaining('--base-url')
      expect(await own.exportFrom(baseUrl, 'events', 'a.ndjson')).toMatchObject({ code, stderr })
    }
    expect(readdirSync(own.folder)).toEqual([])
  })

  it('writes what has arrived, marks the end, and continues from there in another file', async ({
    cairn,
  }) => {
    const own = await newExport(cairn, 0)
    const custom_variables = { note: 'two\u2028lines', __proto__: 1 }
    await own.workspace.client.createEvent({ body: { ...own.event, custom_variables } })
    const ids = await own.send(3)
    expect(await own.export('events', 'a.ndjson')).toMatchObject({ code: 0, stderr: '' })
    const first = own.lines('a.ndjson')
    expect(first.at(-1)).toMatchObject({ end: 4, list: 'events', filter: {} })
    expect(first.slice(1, -1).map(({ id }) => id)).toEqual(ids)
    expect(first[0]).toMatchObject({ custom_variables: { note: 'two\u2028lines' } })
    expect(statSync(join(own.folder, 'a.ndjson')).mode & 0o777).toBe(0o600)

    const later = await own.send(2)
    const since = ['--since', join(own.folder, 'a.ndjson')]
    expect(await own.export('events', 'b.ndjson', ...since)).toMatchObject({ code: 0 })
    const second = own.lines('b.ndjson')
    expect(second.slice(0, -1).map(({ id }) => id)).toEqual(later)
    expect(second.at(-1)).toMatchObject({ end: 2 })
    // Nothing is overwritten.
    expect(await own.export('events', 'b.ndjson')).toMatchObject({ code: 3 })
    expect(await own.export('customers', 'c.ndjson', ...since)).toMatchObject({ code: 2 })

    expect(await own.export('customers', 'c.ndjson', '--filter', 'customer_type=contact')).toMatchObject({
      code: 0,
    })
    const customers = own.lines('c.ndjson')
    expect(customers).toMatchObject([
      { customer_id: own.event.customer_id },
      { end: 1, filter: { customer_type: 'contact' } },
    ])
    const otherFilters = ['--since', join(own.folder, 'c.ndjson')]
    expect(await own.export('customers', 'd.ndjson', ...otherFilters)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was written with other filters'),
    })
    const twice = ['--filter', 'customer_type=contact', '--filter', 'customer_type=account']
    expect(await own.export('customers', 'd.ndjson', ...twice)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('customer_type is given twice'),
    })
    const wrong = await own.export('customers', 'd.ndjson', '--filter', 'event_id=a')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('client_customer_id') })

    expect(await own.export('erasures', 'e.ndjson')).toMatchObject({ code: 0 })
    const { customer_id } = own.event
    await own.workspace.client.eraseCustomer({ path: { customer_id } })
    const sinceErasures = ['--since', join(own.folder, 'e.ndjson')]
    expect(await own.export('erasures', 'f.ndjson', ...sinceErasures)).toMatchObject({ code: 0 })
    expect(own.lines('e.ndjson')).toMatchObject([{ end: 0, list: 'erasures' }])
    expect(own.lines('f.ndjson')).toMatchObject([{ customer_id, may_return: false }, { end: 1 }])
  })

  it.for(['SIGINT', 'SIGKILL'] as const)(
    'resumes after a %s, with each line once',
    async (signal, { cairn }) => {
      const own = await newExport(cairn, 2300)
      const stalling = await startStalling(cairn, 3)
      const command = own.start('events', 'a.ndjson', stalling.url, '--lines-at-once', '500')
      await vi.waitUntil(() => stalling.requests() > 3, withPatience)
      command.process.kill(signal)
      const ended = await command.ended
      if (signal === 'SIGINT')
        expect(ended).toMatchObject({ code: 130, stderr: expect.stringContaining('again') })
      // A process that is killed leaves its lock file; the next command takes it.
      expect(existsSync(join(own.folder, 'a.ndjson.lock'))).toBe(signal === 'SIGKILL')
      expect(() => own.lines('a.ndjson')).toThrow('no such file')
      expect(await own.export('events', 'a.ndjson')).toMatchObject({ code: 0 })
      const lines = own.lines('a.ndjson')
      expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(own.ids)
      expect(lines.at(-1)).toMatchObject({ end: 2300 })
      expect(readdirSync(own.folder).filter((name) => name.startsWith('a.'))).toEqual(['a.ndjson'])
    },
  )

  it('requests again what a broken connection has cut off, wherever that was', async ({ cairn }) => {
    const own = await newExport(cairn, 1200)
    const breaking = await startStalling(cairn, Number.POSITIVE_INFINITY, {
      isBroken: (request) => [1, 3].includes(request),
    })
    const ended = await own.exportFrom(breaking.url, 'events', 'a.ndjson', '--lines-at-once', '600')
    expect(ended).toMatchObject({ code: 0 })
    const lines = own.lines('a.ndjson')
    expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(own.ids)
    expect(lines.at(-1)).toMatchObject({ end: 1200, list: 'events' })
  })

  it('ends with its last line also if much was cut off that has been removed since', async ({ cairn }) => {
    const own = await newExport(cairn, 1_000)
    const { workspace, event } = own
    const customer_id = await initialize(workspace, 'user-2')
    const { data } = await workspace.client.createEvent({ body: { ...event, customer_id } })
    const listed = async () => (await workspace.client.listEvents()).data?.data.map(({ id }) => id)
    let requests = 0
    const breaking = await startStalling(cairn, Number.POSITIVE_INFINITY, {
      isBroken: (request) => request === 1,
      async ready() {
        requests += 1
        if (requests === 1) return
        await workspace.client.eraseCustomer({ path: { customer_id: event.customer_id } })
        await expect.poll(listed).toEqual([data?.id])
      },
    })
    expect(await own.exportFrom(breaking.url, 'events', 'a.ndjson')).toMatchObject({ code: 0 })
    expect(own.lines('a.ndjson')).toMatchObject([{ id: data?.id }, { end: 1 }])
  })

  it('requests less of what a connection cuts off that never lasts for all of it', async ({ cairn }) => {
    const own = await newExport(cairn, 6)
    const breaking = await startStalling(cairn, Number.POSITIVE_INFINITY, {
      isBroken: (_, text) => text.trimEnd().split('\n').length > 3,
    })
    const ended = await own.exportFrom(breaking.url, 'events', 'a.ndjson', '--lines-at-once', '6')
    expect(ended).toMatchObject({ code: 0 })
    const lines = own.lines('a.ndjson')
    expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(own.ids)
  })

  it('requests again a page that a broken connection has cut off', async ({ cairn }) => {
    const own = await newExport(cairn, 0)
    const { customer_id } = own.event
    await own.workspace.client.eraseCustomer({ path: { customer_id } })
    const breaking = await startStalling(cairn, Number.POSITIVE_INFINITY, {
      isBroken: (request) => request === 1,
    })
    expect(await own.exportFrom(breaking.url, 'erasures', 'e.ndjson')).toMatchObject({ code: 0 })
    expect(own.lines('e.ndjson')).toMatchObject([{ customer_id }, { end: 1 }])
  })

  it.for([
    ['events', '/v1/events/export', 'caught_up_to'],
    ['customers', '/v1/customers/export', 'caught_up_to'],
    ['erasures', '/v1/customers/erasures', 'caught_up_to'],
    ['workspace', '/v1/customers/erasures', 'caught_up_to'],
    ['workspace', '/v1/journeys/:id/report', 'as_of'],
  ] as const)(
    'asks again until an answer covers the second in which it began: %s, %s, %s',
    async ([list, path, field], { cairn }) => {
      const own = await newExport(cairn, 1)
      const asked = path.replace(':id', own.workspace.journey_id)
      // The command begins in this second or later.
      const second = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString()
      let answers = 0
      const early = await startStalling(cairn, Number.POSITIVE_INFINITY, {
        changed(text, path) {
          if (path !== asked) return text
          answers += 1
          return answers > 1 ? text : text.replace(new RegExp(`("${field}":)"[^"]+"`), `$1"${second}"`)
        },
      })
      expect(await own.exportFrom(early.url, list, 'all')).toMatchObject({ code: 0 })
      expect(answers).toBeGreaterThan(1)
    },
  )

  it('says that its own disk is full, and resumes once it is not', async ({ cairn }) => {
    const { workspace, folder, export: run } = await newExport(cairn, 1000)
    const file = join(folder, 'all.ndjson')
    // A file cannot grow beyond 50 KiB, as on a full disk.
    const script = 'ulimit -f 50; exec "$@"'
    const command = [cairnFile, 'export', 'events', file, '--base-url', `${cairn.url}/v1`, '--json']
    const full = await startCommand('bash', ['-c', script, 'bash', process.execPath, ...command], {
      environment: { CAIRN_SERVICE_KEY: workspace.secret_key },
    }).ended
    expect(full.code).toBe(1)
    expect(full.stderr.replace(PROGRESS, '')).toBe(
      `cairn: cannot write ${file}.part: EFBIG: file too large, write. Make room, and run the same command again to resume.\n`,
    )
    expect(await run('events', 'all.ndjson')).toMatchObject({ code: 0 })
  })

  it('waits for an export whose first line takes longer than --give-up-after', async ({ cairn }) => {
    const own = await newExport(cairn, 1)
    // Said after five seconds.
    const hasSaidSo = () => command.stderr().includes('waiting for the server: no response yet')
    const slow = await startStalling(cairn, Number.POSITIVE_INFINITY, {
      ready: () => vi.waitUntil(hasSaidSo, withPatience),
    })
    const command = own.start('events', 'a.ndjson', slow.url, '--give-up-after', '1s')
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(own.lines('a.ndjson')).toMatchObject([{ id: own.ids[0] }, { end: 1 }])
  })

  it('gives up on a server that stays unavailable, says that it waits, and how to resume', async ({
    cairn,
  }) => {
    const own = await newExport(cairn, 1)
    const stalling = await startStalling(cairn, 0)
    const silent = await own.exportFrom(stalling.url, 'erasures', 'e.ndjson', '--give-up-after', '1s')
    expect(silent.stderr).toMatch(
      /^cairn: http:\S+ was unavailable for 1 s: no response within 1 s\. Run the same command again/m,
    )
    expect(silent).toMatchObject({ code: 1, stdout: '' })
    const nothing = `http://127.0.0.1:${await freePort()}/v1`
    const refused = await own.exportFrom(nothing, 'events', 'a.ndjson', '--give-up-after', '1s')
    expect(refused.stderr).toMatch(
      /^waiting for the server: .*ECONNREFUSED.*\ncairn: http:\S+ was unavailable for 1 s: .*ECONNREFUSED/,
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    const other = `${await startFaultyProxy(cairn.url, () => 302)}/v1`
    const strange = await own.exportFrom(other, 'events', 'a.ndjson')
    expect(strange.stderr).toMatch(
      /^cairn: no response from Cairn: Unexpected response .+, not from Cairn\. Check the base URL\. Run the/m,
    )
    expect(await own.export('events', 'a.ndjson')).toMatchObject({ code: 0 })
  })

  it('does not continue from a file of another workspace, nor resume one', async ({ cairn }) => {
    const [own, other] = [await newExport(cairn, 2), await newExport(cairn, 1)]
    const fromOther = expect.stringMatching(/^cairn: \S+ is from another workspace: /)
    for (const list of ['events', 'customers', 'erasures']) {
      const { customer_id } = other.event
      if (list === 'erasures') await other.workspace.client.eraseCustomer({ path: { customer_id } })
      expect(await other.export(list, list)).toMatchObject({ code: 0 })
      const since = ['--since', join(other.folder, list)]
      expect(await own.export(list, list, ...since)).toMatchObject({ code: 2, stderr: fromOther })
      // Of the same workspace, even if the customer was erased since.
      expect(await other.export(list, `${list} later`, ...since)).toMatchObject({ code: 0 })
    }
    const { customer_id } = other.event
    const line = `${JSON.stringify({ customer_id })}\n`
    const part = join(own.folder, 'resumed.part')
    writeFileSync(part, line)
    writeFileSync(
      `${part}.json`,
      JSON.stringify({
        what: JSON.stringify({ list: 'events', filter: {} }),
        reached: { lines: 1, bytes: line.length },
      }),
    )
    expect(await own.export('events', 'resumed')).toMatchObject({ code: 2, stderr: fromOther })
    const erased = ['--since', join(other.folder, 'events')]
    expect(await other.export('events', 'after', ...erased)).toMatchObject({ code: 0 })
  })

  it('does not complete the folder of another workspace', async ({ cairn }) => {
    const [own, other] = [await newExport(cairn, 2), await newExport(cairn, 1)]
    const path = join(other.folder, 'all', 'events.ndjson')
    mkdirSync(join(own.folder, 'all'))
    mkdirSync(join(other.folder, 'all'))
    expect(await own.export('events', 'all/events.ndjson')).toMatchObject({ code: 0 })
    const events = readFileSync(join(own.folder, 'all', 'events.ndjson'), 'utf8')
    writeFileSync(path, events)
    expect(await other.export('workspace', 'all')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^cairn: \S+ is from another workspace: /),
    })
    expect(readFileSync(path, 'utf8')).toBe(events)
    expect(await own.export('workspace', 'all')).toMatchObject({ code: 0 })
  })

  it('does not continue from a file that is incomplete, or has lost or gained a line', async ({ cairn }) => {
    const own = await newExport(cairn, 5)
    expect(await own.export('events', 'a.ndjson')).toMatchObject({ code: 0 })
    const path = join(own.folder, 'a.ndjson')
    const whole = readFileSync(path, 'utf8')
    const since = ['--since', path]
    writeFileSync(path, whole.slice(whole.indexOf('\n') + 1))
    expect(await own.export('events', 'b.ndjson', ...since)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it has 4 lines instead of 5'),
    })
    writeFileSync(path, whole.slice(0, whole.indexOf('\n') + 1) + whole)
    expect(await own.export('events', 'b.ndjson', ...since)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it has 6 lines instead of 5'),
    })
    writeFileSync(path, whole)
    truncateSync(path, whole.length - 1 - Math.floor(Math.random() * (whole.length - 1)))
    expect(await own.export('events', 'b.ndjson', ...since)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is incomplete'),
    })
  })
})

describe('a file that an export writes', () => {
  it('is not written by another command too, neither from its beginning nor where one was stopped', async ({
    cairn,
  }) => {
    const own = await newExport(cairn, 5)
    for (const passed of [2, 1]) {
      const stalling = await startStalling(cairn, passed)
      const first = own.start('events', 'a.ndjson', stalling.url, '--lines-at-once', '1')
      await vi.waitUntil(() => stalling.requests() > passed, withPatience)
      expect(await own.export('events', 'a.ndjson')).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/^cairn: another command is writing \S+a\.ndjson\. /),
      })
      first.process.kill('SIGTERM')
      expect(await first.ended).toMatchObject({ code: 130 })
      expect(existsSync(join(own.folder, 'a.ndjson'))).toBe(false)
    }
    expect(await own.export('events', 'a.ndjson')).toMatchObject({ code: 0 })
    expect(own.lines('a.ndjson').map(({ id }) => id)).toEqual([...own.ids, undefined])
    expect(readdirSync(own.folder)).toEqual(['a.ndjson'])
  })

  it('of a workspace is not written by another command too', async ({ cairn }) => {
    const own = await newExport(cairn, 1)
    mkdirSync(join(own.folder, 'all'))
    for (const list of ['events', 'customers']) {
      expect(await own.export(list, `all/${list}.ndjson`)).toMatchObject({ code: 0 })
    }
    const stalling = await startStalling(cairn, 0)
    const first = own.start('workspace', 'all', stalling.url)
    await vi.waitUntil(() => stalling.requests() > 0, withPatience)
    expect(await own.export('workspace', 'all')).toMatchObject({ code: 3 })
    first.process.kill('SIGKILL')
    await first.ended
    expect(await own.export('workspace', 'all')).toMatchObject({ code: 0 })
  })

  /** The saved position of an earlier run that has written one line. */
  const note = (line: string) =>
    JSON.stringify({
      what: JSON.stringify({ list: 'events', filter: {} }),
      reached: { lines: 1, bytes: line.length, cursor: undefined },
    })

  it.for([
    ['a symbolic link', (victim: string, part: string) => symlinkSync(victim, part)],
    ['a hard link', (victim: string, part: string) => linkSync(victim, part)],
    [
      'a file that everybody may read',
      (_victim: string, part: string) => {
        writeFileSync(part, 'old')
        chmodSync(part, 0o644)
      },
    ],
  ] as const)(
    'is new and readable only by its owner if %s was in its place',
    async ([_what, put], { cairn }) => {
      const own = await newExport(cairn, 1)
      const victim = join(own.folder, 'victim')
      writeFileSync(victim, 'mine')
      for (const name of ['a.part', 'a.part.json.partial', 'a.part.json.new']) {
        put(victim, join(own.folder, name))
      }
      expect(await own.export('events', 'a')).toMatchObject({ code: 0 })
      expect(readFileSync(victim, 'utf8')).toBe('mine')
      const stats = lstatSync(join(own.folder, 'a'))
      expect([stats.isFile(), stats.nlink, stats.mode & 0o777]).toEqual([true, 1, 0o600])
      expect(own.lines('a')).toHaveLength(2)
    },
  )

  it.for([
    ['a symbolic link', symlinkSync],
    ['a hard link', linkSync],
  ] as const)('does not resume in %s, and says so', async ([_what, put], { cairn }) => {
    const own = await newExport(cairn, 1)
    const victim = join(own.folder, 'victim')
    writeFileSync(victim, '{"a":1}\nmine')
    put(victim, join(own.folder, 'a.part'))
    writeFileSync(join(own.folder, 'a.part.json'), note('{"a":1}\n'))
    const ended = await own.export('events', 'a')
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('a.part is a link') })
    expect(readFileSync(victim, 'utf8')).toBe('{"a":1}\nmine')
    expect(existsSync(join(own.folder, 'a'))).toBe(false)
  })

  it('that it resumes with is closed to other users', async ({ cairn }) => {
    const own = await newExport(cairn, 1)
    const part = join(own.folder, 'a.part')
    writeFileSync(part, '{"a":1}\n')
    chmodSync(part, 0o644)
    writeFileSync(`${part}.json`, note('{"a":1}\n'))
    expect(await own.export('events', 'a')).toMatchObject({ code: 0 })
    expect(statSync(join(own.folder, 'a')).mode & 0o777).toBe(0o600)
    expect(own.lines('a')).toHaveLength(3)
  })

  it('of a workspace does not follow links either', async ({ cairn }) => {
    const own = await newExport(cairn, 1)
    const folder = join(own.folder, 'all')
    mkdirSync(folder)
    const victim = join(own.folder, 'victim')
    writeFileSync(victim, 'mine')
    const names = ['journeys', 'enrolments', 'events', 'customers'].map((name) => `${name}.ndjson`)
    for (const name of names) {
      for (const suffix of ['.part', '.partial']) symlinkSync(victim, join(folder, name + suffix))
    }
    expect(await own.export('workspace', 'all')).toMatchObject({ code: 0 })
    expect(readFileSync(victim, 'utf8')).toBe('mine')
    for (const name of names) {
      const stats = lstatSync(join(folder, name))
      expect([stats.isFile(), stats.mode & 0o777]).toEqual([true, 0o600])
    }
  })
})
