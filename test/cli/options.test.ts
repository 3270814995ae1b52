// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { count, duration_ms, name, origin, rate } from '../../server/cli/options.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'

describe('a name', () => {
  it('has 1 to 255 characters without NUL', () => {
    expect(name('x')).toBe('x')
    expect(name('\u{1F600}'.repeat(255))).toHaveLength(510)
    for (const text of ['', 'x'.repeat(256), 'a\0b']) expect(() => name(text)).toThrow('1 to 255 characters')
  })
})

it('a name that the contract does not accept is refused by every command that creates a journey', async () => {
  const port = { environment: { PORT: '0' } }
  for (const args of [
    ['dev', '--journey', ''],
    ['init', '--workspace', 'A', '--journey', 'x'.repeat(256)],
  ]) {
    const stderr = expect.stringContaining('It must have 1 to 255 characters')
    expect(await spawnCairn(args, port).ended).toMatchObject({ code: 2, stdout: '', stderr })
  }
})

describe('a span of time', () => {
  it.each([
    ['0s', 0],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['999999d', 86_399_913_600_000],
  ])('may be %s', (text, ms) => {
    expect(duration_ms(text)).toBe(ms)
  })

  it.each(['', '5', 's', '1w', '-1s', '1.5h', '1h30m', ' 1s', '1S', '1000000s'])(
    'may not be "%s"',
    (text) => {
      expect(() => duration_ms(text)).toThrow('90s, 15m, 24h or 30d')
    },
  )
})

describe('an origin', () => {
  it.each(['https://app.example.com', 'http://localhost:8080', 'http://[::1]:8080', 'http://127.0.0.1'])(
    'may be %s',
    (text) => {
      expect(origin(text)).toBe(text)
    },
  )

  it.each([
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://APP.example.com',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'file:///index.html',
  ])('may not be %s, which no browser sends', (text) => {
    expect(() => origin(text)).toThrow('https://app.example.com, without a path')
  })
})

describe('a count', () => {
  it('is a whole number from 1 to 9999', () => {
    expect([count('1'), count('9999')]).toEqual([1, 9999])
    for (const text of ['', '0', '-1', '07', '10000', '1.5', 'all'])
      expect(() => count(text)).toThrow('whole number')
  })
})

describe('a rate', () => {
  it('is a whole number up to a million', () => {
    expect([rate('0'), rate('1'), rate('1000000')]).toEqual([0, 1, 1_000_000])
    for (const text of ['', '-1', '1000001', '1.5', '1e3', 'none'])
      expect(() => rate(text)).toThrow('whole number')
  })
})

describe('a URL with credentials', () => {
  const urls = [
    'http://ada:invented@cairn.example.com/v1',
    'http://invented@cairn.example.com/v1',
    'http://ada:invented@cairn.example.com:port/v1',
    'ada:invented@cairn.example.com',
  ]
  it.each(urls)('is refused, and not printed: %s', async (url) => {
    for (const args of [
      ['import', 'none', '--base-url', url],
      ['export', 'events', 'none', '--base-url', url],
      ['webhooks', 'listen', '--forward', url],
    ]) {
      const stderr = 'cairn: a URL cannot contain a user name or a password\n'
      expect(await runCairn(args)).toEqual({ code: 2, stdout: '', stderr })
    }
  })
})
