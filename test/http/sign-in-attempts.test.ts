// engines: sqlite, postgres
// alone: measures the memory of its own process

import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { Passwords } from '../../server/http/callers/passwords.ts'
import { Attempts } from '../../server/http/rates/attempts.ts'
import { makeSetupLink } from '../../server/setup-link.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { type Cairn, startCairn, startCairnForTest } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import {
  addMember,
  browser,
  newEmail,
  newMember,
  newPerson,
  OWN_PAGE,
  type Person,
  signIn,
  signUp,
} from '../fixtures/people.ts'
import { problemOf } from '../fixtures/requests.ts'

let cairn: Cairn
let now = Date.now()

beforeAll(async () => {
  // So that a request can choose the address it comes from.
  cairn = await startCairn({ trustedProxies: ['127.0.0.1'], now: () => now })
  return cairn.stop
})

let networks = 0

/** Addresses from which no request has come. */
function newAddresses(count: number): string[] {
  networks += 1
  return Array.from({ length: count }, (_, at) => `10.${networks}.${at >> 8}.${at & 255}`)
}

function newAddress(): string {
  return newAddresses(1)[0] ?? ''
}

type Guess = { email?: string; password?: string; from?: string; cookie?: string }

/** The response to a guess. By default it is a wrong one for an account that does not exist. */
async function guess({ email = newEmail(), password = 'wrong', from, cookie }: Guess, at = cairn) {
  return await at.fetch('/session', {
    method: 'POST',
    headers: {
      ...OWN_PAGE,
      'content-type': 'application/json',
      ...(from !== undefined && { 'x-forwarded-for': from }),
      ...(cookie !== undefined && { cookie }),
    },
    body: JSON.stringify({ email, password }),
  })
}

/** The status, and the seconds to wait. */
function outcome({ status, headers }: Response) {
  const wait = headers.get('retry-after')
  return wait === null ? status : { status, wait: Number(wait) }
}

/** The outcomes of guesses that are made one after the other. */
async function outcomes(guesses: Guess[], at = cairn) {
  const all = []
  for (const one of guesses) all.push(outcome(await guess(one, at)))
  return all
}

/** The cookie of a browser in which the person has signed in. */
async function deviceOf({ email, password }: Person): Promise<string> {
  const reply = await guess({ email, password, from: newAddress() })
  const [cookie = ''] = reply.headers.getSetCookie()[1]?.split(';') ?? []
  expect(cookie).toMatch(/^cairn_device=/)
  return cookie
}

function times<Item>(count: number, item: Item): Item[] {
  return Array(count).fill(item)
}

describe('whether there is an account', () => {
  it('is not revealed by the answer to a wrong guess', async () => {
    const workspace = await cairn.workspace()
    const { email } = await newMember(cairn, workspace, 'owner')
    const answers = []
    for (const given of [{ email }, { email: email.toUpperCase() }, {}, { email: 'no email' }]) {
      const reply = await guess({ ...given, from: newAddress() })
      const { request_id, ...problem } = await problemOf(reply)
      expect(problem).toMatchObject({ status: 401, code: 'sign_in_refused' })
      expect(JSON.stringify(problem)).not.toContain('@')
      const headers = [...reply.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      answers.push(JSON.stringify({ length: request_id.length, problem, headers }))
    }
    expect(new Set(answers).size).toBe(1)
  })

  it('is not revealed by the response time', async () => {
    const workspace = await cairn.workspace()
    // The hash that the server itself computes.
    const password_hash = new Passwords().hash('enigma-is-a-machine', 'ada')
    const { person_id, email } = await newPerson(cairn, { password_hash })
    await addMember(cairn, workspace, { person_id }, 'owner')
    const addresses = newAddresses(34)
    const time = async (given: Guess) => {
      const began = performance.now()
      await guess(given)
      return performance.now() - began
    }
    const known: number[] = []
    const unknown: number[] = []
    for (const [at, from] of addresses.entries()) {
      const taken = at % 2 === 0 ? await time({ email, from }) : await time({ from })
      // The first of each kind prepares what later ones use.
      if (at >= 4) (at % 2 === 0 ? known : unknown).push(taken)
    }
    const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? 0
    // Without a hash to compare, the response would take a tenth of the time; load makes no such difference.
    const ratio = median(unknown) / median(known)
    expect(ratio).toBeGreaterThan(1 / 3)
    expect(ratio).toBeLessThan(3)
  })

  it('is not revealed by when further guesses must wait', async () => {
    const person = await newPerson(cairn)
    const known = await outcomes(times(7, { email: person.email, from: newAddress() }))
    const unknown = await outcomes(times(7, { email: newEmail(), from: newAddress() }))
    expect(unknown).toEqual(known)
  })
})

describe('guesses at one account from one address', () => {
  it('must wait after the fifth wrong one, each twice as long, up to a minute', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    expect(await outcomes(times(4, { email, from }))).toEqual(times(4, 401))
    for (const wait of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await outcomes([{ email, from }])).toEqual([401])
      // Not even the right password is checked.
      expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait }])
      now += wait * 1000 - 1
      // The refused ones have not extended the wait.
      expect(await outcomes(times(3, { email, from }))).toEqual(times(3, { status: 429, wait: 1 }))
      now += 1
    }
    expect(await outcomes([{ email, password, from }])).toEqual([201])
  })

  it('are answered like everyone who must wait', async () => {
    const [email, from] = [newEmail(), newAddress()]
    await outcomes(times(5, { email, from }))
    const { request_id: _, ...problem } = await problemOf(await guess({ email, from }))
    expect(problem).toMatchObject({ status: 429, code: 'too_many_attempts' })
    expect(JSON.stringify(problem)).not.toContain(email)
  })

  it('are counted in any letter case', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    const written = [email, email.toUpperCase(), email.replace('e', 'E'), email, email.toUpperCase()]
    expect(await outcomes(written.map((email) => ({ email, from })))).toEqual(times(5, 401))
    expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait: 1 }])
  })

  it('start from zero after the right one', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    const wrong = times(4, { email, from })
    expect(await outcomes([...wrong, { email, password, from }, ...wrong])).toEqual([
      ...times(4, 401),
      201,
      ...times(4, 401),
    ])
  })

  it('do not slip through concurrently', async () => {
    const [email, from] = [newEmail(), newAddress()]
    const replies = await Promise.all(times(20, { email, from }).map((given) => guess(given)))
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).toEqual([...times(5, 401), ...times(15, 429)])
  })

  it('need not wait because the clock was set back', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    expect(await outcomes(times(4, { email, from }))).toEqual(times(4, 401))
    now -= 3000
    expect(await outcomes([{ email, password, from }])).toEqual([201])
    now += 3000
    // Nor for an hour if they had to wait a second before.
    expect(await outcomes(times(5, { email, from }))).toEqual(times(5, 401))
    expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait: 1 }])
    now -= 3_600_000
    expect(await outcomes([{ email, password, from }])).toEqual([201])
    now += 3_600_000
  })

  it('must wait also if the clock is behind that of another server, by up to a minute', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    await outcomes(times(4, { email, from }))
    for (const wait of [1, 2, 4, 8, 16, 32, 60]) {
      expect(await outcomes([{ email, from }])).toEqual([401])
      now += wait * 1000
    }
    expect(await outcomes([{ email, from }])).toEqual([401])
    now -= 60_000
    expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait: 120 }])
    now += 120_000
    expect(await outcomes([{ email, password, from }])).toEqual([201])
  })

  it('delay neither other accounts nor other addresses', async () => {
    const [one, two] = [await newPerson(cairn), await newPerson(cairn)]
    const from = newAddress()
    await outcomes(times(5, { email: one.email, from }))
    const right = ({ email, password }: Person, from: string) => ({ email, password, from })
    expect(await outcomes([right(two, from), right(one, newAddress()), right(one, from)])).toEqual([
      201,
      201,
      { status: 429, wait: 1 },
    ])
  })
})

describe('guesses from one address', () => {
  it('must wait after thirty wrong ones, on any accounts', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    expect(await outcomes(times(30, { from }))).toEqual(times(30, 401))
    expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait: 1 }])
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([201])
    now += 1000
    expect(await outcomes([{ email, password, from }])).toEqual([201])
  })

  it('are counted by network where the address is one of IPv6', async () => {
    const { email, password } = await newPerson(cairn)
    const same = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:DB8::1:0:0:0:3', '2001:db8:0:1:1:2:3:4']
    const wrong = Array.from({ length: 30 }, (_, at) => ({ from: same[at % same.length] ?? '' }))
    expect(await outcomes(wrong)).toEqual(times(30, 401))
    expect(await outcomes([{ email, password, from: '2001:db8:0:1:2::' }])).toEqual([
      { status: 429, wait: 1 },
    ])
    expect(await outcomes([{ email, password, from: '2001:db8:0:2::1' }])).toEqual([201])
  })

  it('are not forgotten when the network signs in to an account of its own', async () => {
    const { email, password } = await newPerson(cairn)
    const from = newAddress()
    const own = { email, password, from }
    expect(await outcomes(times(29, { from }))).toEqual(times(29, 401))
    expect(await outcomes(times(3, own))).toEqual(times(3, 201))
    expect(await outcomes([{ from }, own])).toEqual([401, { status: 429, wait: 1 }])
  })

  it('are counted by the proxy’s report only if it is trusted', async () => {
    const at = await startCairnForTest({ now: () => now })
    const email = newEmail()
    const guesses = newAddresses(6).map((from) => ({ email, from }))
    expect(await outcomes(guesses, at)).toEqual([...times(5, 401), { status: 429, wait: 1 }])
  })

  it('are counted by the last address that a trusted proxy has added', async () => {
    const [email, from] = [newEmail(), newAddress()]
    // An attacker can send a header, to which the proxy appends.
    const guesses = newAddresses(6).map((invented) => ({ email, from: `${invented}, ${from}` }))
    expect(await outcomes(guesses)).toEqual([...times(5, 401), { status: 429, wait: 1 }])
  })
})

describe('guesses at one account from many addresses', () => {
  it('must wait after twenty of them, but never the owner in a known browser', async () => {
    const person = await newPerson(cairn)
    const { email, password } = person
    const cookie = await deviceOf(person)
    const guesses = newAddresses(20).map((from) => ({ email, from }))
    expect(await outcomes(guesses)).toEqual(times(20, 401))
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([{ status: 429, wait: 1 }])
    expect(await outcomes([{ email, password, from: newAddress(), cookie }])).toEqual([201])
    // That has not let the others in.
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([{ status: 429, wait: 1 }])
  })

  it('wait longer with each wrong one from anyone, up to a minute and for at most an hour', async () => {
    const { email, password } = await newPerson(cairn)
    const addresses = newAddresses(28)
    const began = now
    expect(await outcomes(addresses.slice(0, 20).map((from) => ({ email, from })))).toEqual(times(20, 401))
    for (const [at, wait] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([{ status: 429, wait }])
      now += wait * 1000
      expect(await outcomes([{ email, from: addresses[20 + at] ?? '' }])).toEqual([401])
    }
    // Another counted guess makes the others wait again.
    now += 60_000
    expect(await outcomes([{ email, from: addresses[0] ?? '' }])).toEqual([401])
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([{ status: 429, wait: 60 }])
    now = began + 3_600_001
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([201])
    // The count begins again, so that it needs twenty to make anybody wait.
    expect(await outcomes([{ email, from: newAddress() }])).toEqual([401])
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([201])
  })

  it('need not wait because of those before the clock was set back', async () => {
    const { email, password } = await newPerson(cairn)
    now += 7_200_000
    const guesses = newAddresses(20).map((from) => ({ email, from }))
    expect(await outcomes(guesses)).toEqual(times(20, 401))
    now -= 7_200_000
    expect(await outcomes([{ email, from: newAddress() }])).toEqual([401])
    expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([201])
  })

  it('from five networks lock out no new browser, however long they continue', async () => {
    const { email, password } = await newPerson(cairn)
    const addresses = newAddresses(5)
    // As often as each may guess, and then so rarely that each is forgotten between two guesses.
    for (const pause_ms of [...times(10, 61_000), ...times(6, 3_600_001)]) {
      expect(await outcomes(addresses.map((from) => ({ email, from })))).toEqual(times(5, 401))
      expect(await outcomes([{ email, password, from: newAddress() }])).toEqual([201])
      now += pause_ms
    }
  })
})

describe('a new password', () => {
  it('set by an operator ends the waiting, wherever the guesses came from', async () => {
    const at = await startCairnForTest({ trustedProxies: ['127.0.0.1'], now: () => now })
    const person = await newPerson(at)
    const { email } = person
    const [from] = newAddresses(1)
    const addresses = newAddresses(20)
    await outcomes(times(5, { email, ...(from && { from }) }), at)
    await outcomes(
      addresses.map((from) => ({ email, from })),
      at,
    )
    expect(await outcomes([{ ...person, ...(from && { from }) }], at)).toEqual([{ status: 429, wait: 1 }])
    const password = 'a-moth-in-relay-70'
    const set = await runCairn(['member', 'set-password', '--email', email], {
      environment: { DATABASE_URL: at.databaseUrl },
      stdin: `${password}\n`,
    })
    expect(set.code).toBe(0)
    const right = [from, addresses[0], newAddress()].map((from = '') => ({ email, password, from }))
    expect(await outcomes(right, at)).toEqual([201, 201, 201])
  })
})

describe('an outage', () => {
  it('is not a wrong guess, and keeps concurrent wrong ones counted', async () => {
    const attempts = new Attempts({ now: () => now })
    for (const [by, free] of [
      ['pair', 5],
      ['device', 10],
      ['link', 30],
    ] as const) {
      const subjects = [
        { by, value: by },
        { by: 'account', value: by },
      ] as const
      const guess = (outcome: 'right' | undefined) => attempts.guess(subjects, async () => outcome)
      const outage = () =>
        attempts.guess(subjects, async () => {
          throw new Unavailable('overloaded')
        })
      for (const _ of Array(free - 2)) await guess(undefined)
      for (const _ of Array(100)) await expect(outage()).rejects.toThrow('overloaded')
      // Concurrently with a wrong one, the last but one that is free.
      await Promise.allSettled([outage(), guess(undefined)])
      await guess(undefined)
      await expect(guess('right')).rejects.toThrow('too_many_attempts')
      now += 1000
      expect(await guess('right')).toBe('right')
    }
  })
})

describe('a right guess', () => {
  it('ends no wait that others have caused while it was compared', async () => {
    const attempts = new Attempts({ now: () => now })
    const from = (network: string, find: () => Promise<'right' | undefined>) =>
      attempts.guess(
        [
          { by: 'pair', value: network },
          { by: 'account', value: 'account' },
        ],
        find,
      )
    for (let network = 0; network < 19; network += 1) await from(`${network}`, async () => undefined)
    const comparison = Promise.withResolvers<'right'>()
    const slow = from('slow', () => comparison.promise)
    now += 1000
    await from('wrong', async () => undefined)
    comparison.resolve('right')
    expect(await slow).toBe('right')
    await expect(from('new', async () => 'right')).rejects.toThrow('too_many_attempts')
    now += 2000
    expect(await from('new', async () => 'right')).toBe('right')
  })
})

describe('the memory for guesses', () => {
  it('is the same however long the names are', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const attempts = new Attempts({ now: () => now })
    const wrong = async (value: string) => {
      const subjects = [
        { by: 'pair', value },
        { by: 'account', value },
      ] as const
      await attempts.guess(subjects, async () => undefined)
    }
    collect()
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < 4000; count += 1) await wrong(randomBytes(5000).toString('hex'))
    collect()
    // With full names this would take forty million.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
    await expect(Promise.all(times(6, '0').map(wrong))).rejects.toThrow('too_many_attempts')
  })
})

describe('a flood of invented names', () => {
  const FLOOD = 110_000

  const wrong = async () => undefined
  const right = async () => 'right'

  /** Many guesses, each for an unknown account and from an unknown network. */
  async function flood(attempts: Attempts) {
    for (let count = 0; count < FLOOD; count += 1) {
      const value = `made up ${count}`
      const subjects = [
        { by: 'pair', value },
        { by: 'network', value },
        { by: 'account', value },
      ] as const
      await attempts.guess(subjects, wrong)
    }
  }

  const pair = [{ by: 'pair', value: 'pair' }] as const

  /** Wrong guesses for an account, each from another network. */
  async function guesses(attempts: Attempts, value: string, from: number, to: number) {
    for (let count = from; count < to; count += 1) await attempts.guess(of(value, count), wrong)
  }

  function of(value: string, count: number) {
    return [
      { by: 'pair', value: `${value} ${count}` },
      { by: 'account', value },
    ] as const
  }

  it('ends no waiting, and evicts nothing that is half way to it', async () => {
    const attempts = new Attempts({ now: () => now })
    for (let count = 0; count < 5; count += 1) await attempts.guess(pair, wrong)
    await guesses(attempts, 'waiting', 0, 20)
    await guesses(attempts, 'half the way', 0, 10)
    await flood(attempts)
    await expect(attempts.guess(pair, right)).rejects.toThrow('too_many_attempts')
    await expect(attempts.guess(of('waiting', 20), right)).rejects.toThrow('too_many_attempts')
    await guesses(attempts, 'half the way', 10, 20)
    await expect(attempts.guess(of('half the way', 20), right)).rejects.toThrow('too_many_attempts')
  })

  it('of links, which cost nothing to guess, evicts no count of accounts', async () => {
    const attempts = new Attempts({ now: () => now })
    for (let count = 0; count < 4; count += 1) await attempts.guess(pair, wrong)
    for (let count = 0; count < FLOOD; count += 1) {
      await attempts.guess([{ by: 'link', value: `network ${count}` }], wrong)
    }
    await attempts.guess(pair, wrong)
    await expect(attempts.guess(pair, right)).rejects.toThrow('too_many_attempts')
  })

  it('takes memory for a bounded number of them', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const attempts = new Attempts({ now: () => now })
    const link = async (from: number, to: number) => {
      for (let count = from; count < to; count += 1) {
        await attempts.guess([{ by: 'link', value: `${count}` }], wrong)
      }
      collect()
      return process.memoryUsage().heapUsed
    }
    const full = await link(0, FLOOD)
    // Storing as many again would take some 15 MB.
    expect((await link(FLOOD, 2 * FLOOD)) - full).toBeLessThan(8_000_000)
  })
})

describe('a browser that has signed in before', () => {
  it('has a count of its own: it waits after ten wrong guesses, from anywhere', async () => {
    const person = await newPerson(cairn)
    const { email, password } = person
    const [cookie, other] = [await deviceOf(person), await deviceOf(person)]
    const guesses = newAddresses(10).map((from) => ({ email, from, cookie }))
    expect(await outcomes(guesses)).toEqual(times(10, 401))
    const from = newAddress()
    expect(
      await outcomes([
        { email, password, from, cookie },
        { email, password, from, cookie: other },
        { email, password, from },
      ]),
    ).toEqual([{ status: 429, wait: 1 }, 201, 201])
  })

  it('is recognized only for that account, by the server’s own token, and until the password changes', async () => {
    const [person, stranger] = [await newPerson(cairn), await newPerson(cairn)]
    const { email, password } = person
    const cookie = await deviceOf(person)
    const [random = '', code = ''] = cookie.replace('cairn_device=', '').split('.')
    const from = newAddress()
    const own = browser(cairn, await signIn(cairn, person))
    const changed = 'a-moth-in-relay-70'
    const change = await own.fetch('POST /session/password', {
      body: { current_password: password, new_password: changed },
    })
    // The browser that changed it stays known.
    const [kept = ''] = change.headers.getSetCookie()[0]?.split(';') ?? []
    await outcomes(times(5, { email, from }))
    for (const unknown of [
      cookie,
      await deviceOf(stranger),
      `cairn_device=${random}.${'0'.repeat(64)}`,
      `cairn_device=${'0'.repeat(32)}.${code}`,
      `cairn_device=${random}`,
      'cairn_device=.',
      'cairn_device=',
    ]) {
      const answer = await outcomes([{ email, password: changed, from, cookie: unknown }])
      expect([unknown, answer]).toEqual([unknown, [{ status: 429, wait: 1 }]])
    }
    const known = await deviceOf({ ...person, password: changed })
    expect(await outcomes([{ email, password: changed, from, cookie: known }])).toEqual([201])
    expect(await outcomes([{ email, password: changed, from, cookie: kept }])).toEqual([201])
  })
})

describe('guesses at the current password', () => {
  it('are counted as those of signing in', async () => {
    const workspace = await cairn.workspace()
    const { fetch, email, password } = await signUp(cairn, workspace, 'viewer')
    const from = newAddress()
    const change = async (current_password: string) => {
      const body = { current_password, new_password: 'a-moth-in-relay-70' }
      const headers = { 'x-forwarded-for': from }
      return outcome(await fetch('POST /session/password', { body, headers }))
    }
    for (const _ of Array(5)) expect(await change('wrong')).toBe(409)
    expect(await change(password)).toEqual({ status: 429, wait: 1 })
    expect(await outcomes([{ email, password, from }])).toEqual([{ status: 429, wait: 1 }])
    now += 1000
    expect(await change(password)).toBe(200)
  })
})

describe('guesses at the token of a link', () => {
  it('must wait after thirty wrong ones from one address, on any link', async () => {
    const workspace = await cairn.workspace()
    const { fetch } = await signUp(cairn, workspace, 'owner')
    const made = await fetch('POST /invitations', { body: { email: newEmail(), role: 'viewer' } })
    const invitation: string = (await made.json()).token
    const { workspace_id } = workspace
    const link = { workspace_id, baseUrl: cairn.url, now_ms: now }
    const url = await inStore(cairn.databaseUrl, (db) => makeSetupLink(db, link))
    const setup = new URL(url).hash.replace('#token=', '')

    const { person_id } = await newMember(cairn, workspace, 'viewer')
    const forgotten: string = (await (await fetch(`POST /members/${person_id}/password-link`)).json()).token

    const person = { name: 'Ada', password: 'enigma-is-a-machine' }
    const from = newAddress()
    const use = (line: string, body: object, address = from) =>
      fetch(line, { body, headers: { 'x-forwarded-for': address } }).then(outcome)
    const uses = (tokens: { setup: string; invitation: string; forgotten: string }, address = from) => [
      () => use('POST /setup/look-up', { token: tokens.setup }, address),
      () => use('POST /invitations/look-up', { token: tokens.invitation }, address),
      () => use('POST /invitations/join', { token: tokens.invitation }, address),
      () => use('POST /invitations/accept', { ...person, token: tokens.invitation }, address),
      () => use('POST /setup', { ...person, email: newEmail(), token: tokens.setup }, address),
      () => use('POST /password-links/look-up', { token: tokens.forgotten }, address),
      () => use('POST /password-links/use', { password: person.password, token: tokens.forgotten }, address),
    ]
    const wrong = uses({ setup: 'setup_wrong', invitation: 'invitation_wrong', forgotten: 'password_wrong' })
    for (let count = 0; count < 30; count += 1) expect(await wrong[count % wrong.length]?.()).toBe(404)
    const right = { setup, invitation, forgotten }
    for (const one of uses(right)) expect(await one()).toEqual({ status: 429, wait: 1 })
    const elsewhere = uses(right, newAddress())
    for (const at of [0, 1, 5]) expect(await elsewhere[at]?.()).toBe(200)
  })
})
