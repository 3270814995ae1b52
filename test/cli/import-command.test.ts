// engines: sqlite (reads files and prints; import.test.ts stores on both engines)

import { execFileSync } from 'node:child_process'
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
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, vi } from 'vitest'
import { cairnFile, runCairn, startCommand } from '../fixtures/command.ts'
import { freePort } from '../fixtures/free-port.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  importerOf,
  listAll,
  newImport,
  newLimitedImport,
  ownEvent,
  startFaultyProxy,
  storedNumbers,
  textOf,
  upTo,
} from './importer.ts'

describe('cairn import', () => {
  it('stops at the first line that needs a journey, and names the option', async ({ cairn }) => {
    const { client, secret_key } = await newImport(cairn)
    const own = importerOf(`${cairn.url}/v1`, secret_key)
    own.write(Array.from({ length: 3000 }, (_, index) => ownEvent(index)))
    const stderr =
      'cairn: line 1 has no journey_id. Use --journey JOURNEY_ID to set it for lines without one.\n'
    for (const more of [[], ['--dry-run']]) {
      const summary = { lines: 1, created: 0, refused: 0 }
      expect(await own.import(own.file, ...more)).toMatchObject({ code: 2, stderr, summary })
    }
    expect(existsSync(`${own.file}.refused.ndjson`)).toBe(false)
    expect((await client.listCustomers()).data?.data).toEqual([])
  })

  it('refuses a line without a journey if others have one, and names the option', async ({ cairn }) => {
    const { secret_key, journey_id } = await newImport(cairn)
    const own = importerOf(`${cairn.url}/v1`, secret_key)
    own.write(['{"a":1}', ownEvent(1, { journey_id }), ownEvent(2)])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 2 } })
    expect(own.refused()).toMatchObject([
      { line_number: 1, code: 'ambiguous_line' },
      { line_number: 3, code: 'invalid_request', detail: expect.stringContaining('--journey') },
    ])
  })

  it('keeps refused lines private in a file that anyone could read', async ({ cairn }) => {
    const own = await newImport(cairn)
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

  it('does not overwrite its input with refused lines, under any of its names', async ({ cairn }) => {
    const own = await newImport(cairn)
    own.write([ownEvent(1), '{'])
    const before = readFileSync(own.file, 'utf8')
    const names = { link: join(own.folder, 'link'), hardLink: join(own.folder, 'hard-link') }
    symlinkSync(own.file, names.link)
    linkSync(own.file, names.hardLink)
    for (const path of [own.file, names.link, names.hardLink]) {
      const { code, stderr } = await own.import(own.file, '--refused', path)
      expect([code, stderr]).toEqual([
        2,
        `cairn: ${path} is the file being imported; choose another with --refused\n`,
      ])
    }
    expect(readFileSync(own.file, 'utf8')).toBe(before)
  })

  it('does not follow links at a default path', async ({ cairn }) => {
    const own = await newImport(cairn)
    own.write(['{'])
    const precious = join(own.folder, 'precious')
    writeFileSync(precious, 'precious')
    const path = `${own.file}.refused.ndjson`
    symlinkSync(precious, path)
    expect(await own.import()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is not a regular file'),
    })
    rmSync(path)
    linkSync(precious, path)
    expect(await own.import()).toMatchObject({ code: 4 })
    expect(readFileSync(precious, 'utf8')).toBe('precious')
  })

  it('accepts the file of refused lines once they are corrected', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
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

  it('reads standard input, gzip, CRLF, a byte order mark and a last line without an end', async ({
    cairn,
  }) => {
    const { client, write, secret_key, journey_id, ...own } = await newImport(cairn)
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
  })

  it.for([
    ['cut off', (zipped: Buffer) => zipped.subarray(0, -9), 'unexpected end of file'],
    ['damaged', (zipped: Buffer) => Buffer.concat([zipped, Buffer.from('text')]), 'incorrect header check'],
  ] as const)(
    'stores what it could read of a gzipped file that is %s, and says where it ends',
    async ([is, spoil, why], { cairn }) => {
      const { client, write: _, ...own } = await newImport(cairn)
      const zipped = join(own.folder, 'events.gz')
      const whole = gzipSync(textOf(upTo(20).map((n) => ownEvent(n))))
      writeFileSync(zipped, spoil(whole))
      const { code, stderr, summary } = await own.import(zipped)
      expect(code).toBe(1)
      const [, line] = /after line (\d+) /.exec(stderr) ?? []
      expect(stderr).toContain(
        `cairn: the gzipped input is ${is} after line ${line} (${why}). Import the whole file: `,
      )
      expect(summary).toMatchObject({ lines: Number(line), created: Number(line) })
      expect(await storedNumbers(client)).toEqual(upTo(Number(line)))
      writeFileSync(zipped, whole)
      expect(await own.import(zipped)).toMatchObject({
        code: 0,
        summary: { lines: 20, duplicate: Number(line) },
      })
      expect(await storedNumbers(client)).toEqual(upTo(20))
    },
  )

  it('refuses the lines of an archived journey, and stores the others', async ({ cairn }) => {
    const { client, write, journey_id, ...own } = await newImport(cairn)
    const { data } = await client.createJourney({ body: { name: 'Ended' } })
    const archived = data?.journey_id ?? ''
    await client.archiveJourney({ path: { journey_id: archived } })
    write([ownEvent(0), ownEvent(1, { journey_id: archived }), ownEvent(2, { journey_id })])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 2, refused: 1 } })
    expect(own.refused()).toMatchObject([{ line_number: 2, code: 'journey_archived' }])
    expect(await storedNumbers(client)).toEqual([0, 2])
  })

  it('keeps a line that is not JSON as it is, without its line end', async ({ cairn }) => {
    const { write: _, ...own } = await newImport(cairn)
    writeFileSync(own.file, `${JSON.stringify(ownEvent(0))}\r\n{"n": 1,}\r\n`)
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 1 } })
    expect(own.refused()).toMatchObject([{ line_number: 2, code: 'invalid_json', line: '{"n": 1,}' }])
  })

  it('reports a byte order mark in a later line, and in a file in UTF-16', async ({ cairn }) => {
    const { write: _, ...own } = await newImport(cairn)
    const [one, two] = [JSON.stringify(ownEvent(1)), JSON.stringify(ownEvent(2))]
    const details = () => own.refused().map(({ detail }) => detail)
    // Concatenated files.
    writeFileSync(own.file, `\ufeff${one}\n\ufeff${two}\n`)
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 1 } })
    expect(details()).toEqual(['begins with a byte order mark (BOM, U+FEFF): must be UTF-8 without one'])
    // The encoding of `>` in Windows PowerShell.
    writeFileSync(own.file, Buffer.from(`\ufeff${one}\r\n`, 'utf16le'))
    expect(await own.import()).toMatchObject({ code: 4 })
    expect(details()[0]).toBe('begins with a byte order mark (BOM) of UTF-16: must be UTF-8 without one')
  })

  it('finishes what is in flight on SIGINT, and says that it can be resumed', async () => {
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

  it('keeps to the rate limit of its key, and reports the delay', async () => {
    // So few that even on a busy machine the rate is the limit.
    const { client, log, ...own } = await newLimitedImport(20)
    own.write(upTo(180).map((n) => ownEvent(n)))
    const { code, summary, progress } = await own.import()
    expect([code, summary]).toMatchObject([0, { created: 180, refused: 0 }])
    // 40 at once, the rest at 20 a second.
    expect(summary.seconds).toBeGreaterThan(6)
    expect(summary.held_seconds).toBeGreaterThan(3)
    const held = /^\d+ %, \d+ created, .+, delayed by the rate limit of 20 events\/s\n$/
    expect(progress).toContainEqual(expect.stringMatching(held))
    expect(await storedNumbers(client)).toEqual(upTo(180))
    const refused = log.filter(({ status }) => status === 429)
    expect(refused).toEqual([])
  })

  it('retries after 429 for as long as it takes', async ({ cairn }) => {
    const { client, secret_key, journey_id } = await newImport(cairn)
    // More often than the client itself would retry.
    const baseUrl = await startFaultyProxy(cairn.url, (count) => (count <= 6 ? 429 : undefined))
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    own.write([ownEvent(1)])
    const { code, summary } = await own.import()
    expect([code, summary]).toMatchObject([0, { created: 1, refused: 0 }])
    expect(summary.held_seconds).toBeGreaterThan(5)
    expect(await storedNumbers(client)).toEqual([1])
  })

  it('gives up after a time without a response, however often the server was unavailable before', async ({
    cairn,
  }) => {
    const { client, secret_key, journey_id } = await newImport(cairn)
    // The responses in between take longer than the import waits for one.
    const statuses = [503, 429, 429, 429, 429, 429, 429, 503] as const
    const baseUrl = await startFaultyProxy(cairn.url, (count) => statuses[count - 1])
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    own.write([ownEvent(1)])
    const { code, summary } = await own.import(own.file, '--give-up-after', '3s')
    expect([code, summary]).toMatchObject([0, { created: 1, refused: 0 }])
    expect(summary.held_seconds).toBeGreaterThan(3)
    expect(await storedNumbers(client)).toEqual([1])
  })

  it('stops at a key that the server refuses, and does not print it', async ({ cairn }) => {
    const { client, write, journey_id, ...own } = await newImport(cairn)
    const key = `sk_${'x'.repeat(49)}`
    const stranger = importerOf(`${cairn.url}/v1`, key, journey_id)
    stranger.write(upTo(5).map((n) => ownEvent(n)))
    const refused = await stranger.import()
    expect(refused).toMatchObject({ code: 2, summary: { created: 0, refused: 0 } })
    expect(refused.stderr).toMatch(
      /^cairn: the server refused the key: unauthorized\. .+ Run the same command again/,
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

  it('gives up on a server that stays unavailable, and says how to resume', async ({ cairn }) => {
    const { secret_key, journey_id } = await newImport(cairn)
    const port = await freePort()
    const own = importerOf(`http://127.0.0.1:${port}/v1`, secret_key, journey_id)
    own.write([ownEvent(1)])
    const made = await own.import(own.file, '--give-up-after', '1s')
    expect(made).toMatchObject({ code: 1, summary: { created: 0, refused: 0 } })
    expect(made.stderr).toMatch(/^cairn: http:\S+ was unavailable for 1 s: .*ECONNREFUSED.*\. Run the same/)
    const proxy = importerOf(`${await startFaultyProxy(cairn.url, () => 502)}/v1`, secret_key, journey_id)
    const page = await proxy.import(own.file, '--give-up-after', '1s')
    expect(page.stderr).toMatch(
      /: Unexpected response .+, not from Cairn\. Check the base URL\. Run the same/,
    )
  })

  it('gives up on a server that accepts requests and never responds, and says what it waits for', async ({
    cairn,
  }) => {
    const { secret_key, journey_id } = await newImport(cairn)
    const own = importerOf(
      `${await startFaultyProxy(cairn.url, () => 'unanswered')}/v1`,
      secret_key,
      journey_id,
    )
    own.write([ownEvent(1)])
    // Progress is printed every five seconds.
    const made = await own.import(own.file, '--give-up-after', '6s')
    expect(made).toMatchObject({ code: 1, summary: { created: 0, refused: 0 } })
    expect(made.stderr).toMatch(
      /^cairn: http:\S+ was unavailable for 6 s: no response within 6 s\. Run the same/,
    )
    expect(made.progress).toContainEqual(expect.stringMatching(/, waiting for the server\n$/))
  })

  it.for(['SIGINT', 'SIGTERM'] as const)(
    'ends on %s, also while the server does not respond',
    async (signal, { cairn }) => {
      const { secret_key, journey_id } = await newImport(cairn)
      let requests = 0
      const baseUrl = await startFaultyProxy(cairn.url, (count) => {
        requests = count
        return 'unanswered'
      })
      const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
      own.write([ownEvent(1)])
      const command = own.start()
      await vi.waitUntil(() => requests > 0, withPatience)
      command.process.kill(signal)
      const stderr = expect.stringMatching(/^cairn: interrupted\. Run the same command again/m)
      expect(await command.ended).toMatchObject({ code: 130, stderr })
    },
  )

  it('sends nothing if refused lines could not be written', async ({ cairn }) => {
    const own = await newImport(cairn)
    own.write([ownEvent(1), '{'])
    const path = join(own.folder, 'none', 'refused.ndjson')
    expect(await own.import(own.file, '--refused', path)).toEqual({
      code: 2,
      stderr: `cairn: no refused lines could be written to ${path}; choose another with --refused\n`,
      progress: [],
      summary: undefined,
    })
    expect(await listAll(own.client)).toEqual([])
  })

  it('does not say that it has written refused lines if the disk is full', async ({ cairn }) => {
    const own = await newImport(cairn)
    own.write(['{', ownEvent(1)])
    expect(await own.import(own.file, '--refused', '/dev/full')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cairn: ENOSPC/),
    })
  })

  it('writes what is refused of a pipe beside no pipe', async ({ cairn }) => {
    const { folder, secret_key, journey_id } = await newImport(cairn)
    const file = join(folder, 'events.ndjson')
    writeFileSync(file, '{"event_id":1}\n')
    const args = ['--base-url', `${cairn.url}/v1`, '--journey', journey_id]
    const script = ['-c', 'exec "$@" <(cat "$0")', file]
    const command = startCommand('bash', [...script, process.execPath, cairnFile, 'import', ...args], {
      environment: { CAIRN_SERVICE_KEY: secret_key },
      folder,
    })
    expect((await command.ended).stderr).toContain('Refused lines were written to import.refused.ndjson')
    expect(readFileSync(join(folder, 'import.refused.ndjson'), 'utf8')).toContain('"line_number":1')
  })

  it('ends on SIGTERM, also while its standard input is idle', async ({ cairn }) => {
    const { client, folder, secret_key, journey_id } = await newImport(cairn)
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const args = ['import', '-', '--base-url', `${cairn.url}/v1`, '--journey', journey_id]
    // Open for writing too, so that it does not end.
    const command = startCommand(
      'bash',
      ['-c', 'exec "$@" <>"$0"', pipe, process.execPath, cairnFile, ...args],
      {
        environment: { CAIRN_SERVICE_KEY: secret_key },
        folder,
      },
    )
    writeFileSync(pipe, textOf([ownEvent(1)]))
    await vi.waitUntil(async () => (await listAll(client)).length === 1, withPatience)
    command.process.kill('SIGTERM')
    const { code, stdout, stderr } = await command.ended
    expect([code, stdout]).toEqual([130, expect.stringMatching(/^1 line: 1 event created/)])
    expect(stderr).toMatch(/^cairn: interrupted\. Run the same command again/m)
  })

  it('--dry-run sends nothing and needs no key', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    write([ownEvent(1), '{'])
    const { code, stdout } = await runCairn(['import', own.file, '--dry-run', '--journey', 'jrn_any'])
    expect([code, stdout]).toEqual([4, '2 lines read, 1 of them refused; nothing was sent\n'])
    expect(await listAll(client)).toEqual([])
  })

  it('reports what is wrong with its arguments', async ({ cairn }) => {
    const { folder, ...own } = await newImport(cairn)
    own.write([ownEvent(1)])
    expect(await own.import(join(folder, 'none'))).toMatchObject({
      code: 3,
      stderr: `cairn: the file ${folder}/none does not exist\n`,
    })
    expect(await own.import(folder)).toMatchObject({ code: 2, stderr: `cairn: ${folder} is a folder\n` })
    const wrong = await own.import(own.file, '--base-url', 'cairn.example.com')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('https://cairn.example.com/v1') })
    for (const elsewhere of [cairn.url, `${cairn.url}/docs`]) {
      const stderr = expect.stringContaining('--base-url')
      expect(await own.import(own.file, '--base-url', elsewhere)).toMatchObject({ code: 1, stderr })
    }
  })
})
