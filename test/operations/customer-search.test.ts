// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { connectTo } from '../fixtures/store.ts'

type Customer = { name: string; id?: string; type?: 'contact' | 'account' }

let customers = 0

/** Initializes a customer; the default identifier matches no search of these tests. */
function customer(workspace: Workspace, { name, id, type = 'contact' }: Customer): Promise<string> {
  customers += 1
  return initialize(workspace, id ?? `#${customers}`, { customer_name: name, customer_type: type })
}

/** A workspace with customers of these names. */
async function workspaceWith(cairn: Cairn, ...names: string[]): Promise<Workspace> {
  const workspace = await cairn.workspace()
  for (const name of names) await customer(workspace, { name })
  return workspace
}

type Filter = { search: string; customer_type?: 'contact' | 'account'; client_customer_id?: string }

/** Every customer found, page by page. */
async function found({ client }: Workspace, filter: Filter, limit = 500) {
  const all = []
  let cursor: string | undefined
  do {
    const { data, error } = await client.listCustomers({
      query: { ...filter, limit, ...(cursor && { cursor }) },
    })
    if (error) throw new Error(error.detail)
    all.push(...data.data)
    cursor = data.next_cursor ?? undefined
  } while (cursor)
  return all
}

/** The names found, newest first. */
async function namesFound(workspace: Workspace, search: string): Promise<string[]> {
  return (await found(workspace, { search })).map(({ customer_name }) => customer_name)
}

/** A name of 21 words. */
const WORDS = Array.from({ length: 21 }, (_, at) => `w${at + 1}`).join(' ')

describe('a search for customers', () => {
  it.for<[promise: string, names: string[], searches: Record<string, string[]>]>([
    [
      'finds names in which a word begins with the text, in any letter case, newest first',
      ['Ada Lovelace', 'Alan Turing', 'ADA KING', 'Grace', 'ada', 'Canada'],
      {
        ada: ['ada', 'ADA KING', 'Ada Lovelace'],
        ADA: ['ada', 'ADA KING', 'Ada Lovelace'],
        ' aDa ': ['ada', 'ADA KING', 'Ada Lovelace'],
        love: ['Ada Lovelace'],
        Lovelaces: [],
        ovelace: [],
      },
    ],
    [
      'finds names in which a word begins with each word of the text, in any order',
      ['Ada Lovelace', 'Ada King, Countess of Lovelace', 'Ada King', 'Lovelace'],
      {
        'ada lovelace': ['Ada King, Countess of Lovelace', 'Ada Lovelace'],
        'Love A': ['Ada King, Countess of Lovelace', 'Ada Lovelace'],
        'lovelace, ada': ['Ada King, Countess of Lovelace', 'Ada Lovelace'],
        'ada king countess': ['Ada King, Countess of Lovelace'],
        'ada grace': [],
        'ada ada': ['Ada King', 'Ada King, Countess of Lovelace', 'Ada Lovelace'],
      },
    ],
    [
      'treats punctuation as the end of a word, and a symbol as a word',
      ["O'Neil", 'Jean-Luc (Berlin)', 'AT&T', 'C++', '100% Ltd', '10000 Ltd', '😀smile'],
      {
        neil: ["O'Neil"],
        "o'neil": ["O'Neil"],
        luc: ['Jean-Luc (Berlin)'],
        berlin: ['Jean-Luc (Berlin)'],
        'at&t': ['AT&T'],
        'c++': ['C++'],
        '100%': ['10000 Ltd', '100% Ltd'],
        smile: ['😀smile'],
        '😀': ['😀smile'],
      },
    ],
    [
      'finds the same characters however they are written, and letters without their accents',
      [
        'ＡＤＡ fullwidth',
        'Zoe\u0308',
        'Zo\u00eb',
        'ﬁnance',
        'Ωmega',
        'ÉCOLE',
        'Łukasz',
        'Weiß',
        'ΣΙΣΥΦΟΣ',
        'Ka\u00ads\u200bper',
      ],
      {
        ada: ['ＡＤＡ fullwidth'],
        ａｄａ: ['ＡＤＡ fullwidth'],
        'zo\u00eb': ['Zo\u00eb', 'Zoe\u0308'],
        'ZOE\u0308': ['Zo\u00eb', 'Zoe\u0308'],
        zoe: ['Zo\u00eb', 'Zoe\u0308'],
        FINANCE: ['ﬁnance'],
        ωMEGA: ['Ωmega'],
        'e\u0301cole': ['ÉCOLE'],
        lukasz: ['Łukasz'],
        WEISS: ['Weiß'],
        σισυφος: ['ΣΙΣΥΦΟΣ'],
        kasper: ['Ka\u00ads\u200bper'],
      },
    ],
    [
      'finds each character of a script that is written without spaces',
      ['株式会社山田', '山本', 'コンピュータ'],
      { 山田: ['株式会社山田'], 山: ['山本', '株式会社山田'], コンピ: ['コンピュータ'] },
    ],
    [
      'treats every character literally',
      ['a_b', 'acb', '*', '[x]', "O'Neil", '"quoted"', '\\', 'x\u0001y', '😀 smile'],
      {
        '%': [],
        _: [],
        '*': ['*'],
        '[x': ['x\u0001y', '[x]'],
        "o'": ["O'Neil"],
        "' OR 1=1 --": [],
        '"': [],
        '\\': ['\\'],
        'x\u0001': ['x\u0001y', '[x]'],
        y: ['x\u0001y'],
        '😀': ['😀 smile'],
        '\u{10fffd}': [],
        '\u200b': [],
      },
    ],
    ['finds the first 20 words of a name', [WORDS], { w20: [WORDS], w21: [], [WORDS]: [WORDS] }],
  ])('%s', async ([, names, searches], { cairn }) => {
    const workspace = await workspaceWith(cairn, ...names)
    for (const [search, expected] of Object.entries(searches)) {
      expect([search, await namesFound(workspace, search)]).toEqual([search, expected])
    }
  })

  it('starts with the identified customer, and has it once however the list is paged', async ({
    workspace,
  }) => {
    const account = await customer(workspace, { name: 'x', id: 'user-1', type: 'account' })
    const contact = await customer(workspace, { name: 'user-1', id: 'user-1' })
    // Its own identifier equals the one that Cairn gave to another customer.
    const alike = await customer(workspace, { name: 'y', id: contact })
    const others = []
    for (let at = 0; at < 12; at += 1)
      others.unshift(await customer(workspace, { name: `User 1${at}`, id: `user-1${at}` }))
    const ids = async (filter: Filter, limit?: number) =>
      (await found(workspace, filter, limit)).map(({ customer_id }) => customer_id)
    for (const limit of [1, 2, 3, 500]) {
      expect(await ids({ search: 'user-1' }, limit)).toEqual([contact, account, ...others])
    }
    expect(await ids({ search: 'user-1', customer_type: 'account' }, 1)).toEqual([account])
    expect(await ids({ search: contact }, 1)).toEqual([alike, contact])
    expect(await ids({ search: account }, 1)).toEqual([account])
    expect(await ids({ search: account, customer_type: 'contact' })).toEqual([])
    expect(await ids({ search: account, client_customer_id: 'user-1' })).toEqual([account])
  })

  it('finds those whose own identifier begins with the text, exactly as it is written', async ({
    workspace,
  }) => {
    const names = {
      'user-1': 'one',
      'user-10': 'ten',
      'User-1': 'One',
      'my-user-1': 'mine',
      'ｕser-1': 'wide',
    }
    for (const [id, name] of Object.entries(names)) await customer(workspace, { name, id })
    await customer(workspace, { name: 'account', id: 'user-1', type: 'account' })
    expect(await namesFound(workspace, 'user-1')).toEqual(['account', 'one', 'ten'])
    expect(await namesFound(workspace, 'user-')).toEqual(['account', 'ten', 'one'])
    expect(await namesFound(workspace, 'User-1')).toEqual(['One'])
    expect(await namesFound(workspace, 'USER-1')).toEqual([])
    expect(await namesFound(workspace, 'user-100')).toEqual([])
  })

  it('finds each customer once, by name as by identifier', async ({ workspace }) => {
    const both = await customer(workspace, { name: 'ada', id: 'ada-1' })
    const byName = await customer(workspace, { name: 'Ada' })
    const byIdentifier = await customer(workspace, { name: 'Grace', id: 'ada-2' })
    const ids = (await found(workspace, { search: 'ada' })).map(({ customer_id }) => customer_id)
    expect(ids).toEqual([byIdentifier, byName, both])
  })

  it('finds a name that continues with any character', async ({ cairn }) => {
    const names = ['ada\u{10fffd}', 'ada\uffff', 'ada\ue000', 'ada😀', 'ada~', 'ada!', 'ada\u0001', 'ada']
    const workspace = await workspaceWith(cairn, ...names)
    expect((await namesFound(workspace, 'ada')).sort()).toEqual(names.sort())
  })

  it('finds the new name after a change, and the old one no more', async ({ workspace }) => {
    await customer(workspace, { name: 'Ada Lovelace', id: 'user-1' })
    await customer(workspace, { name: 'Countess', id: 'user-1' })
    expect(await namesFound(workspace, 'ada')).toEqual([])
    expect(await namesFound(workspace, 'count')).toEqual(['Countess'])
    await customer(workspace, { name: 'countess ada', id: 'user-1' })
    expect(await namesFound(workspace, 'COUNT')).toEqual(['countess ada'])
    expect(await namesFound(workspace, 'ada c')).toEqual(['countess ada'])
    await customer(workspace, { name: 'COUNTESS', id: 'user-1' })
    expect(await namesFound(workspace, 'count')).toEqual(['COUNTESS'])
    expect(await namesFound(workspace, 'ada')).toEqual([])
  })

  it('can be combined with the other filters', async ({ workspace }) => {
    const contact = await customer(workspace, { name: 'Ada', id: 'a-1' })
    const account = await customer(workspace, { name: 'Ada Ltd', id: 'a-1', type: 'account' })
    const other = await customer(workspace, { name: 'Adam', id: 'a-2' })
    const ids = async (filter: Omit<Filter, 'search'>, search = 'ada') =>
      (await found(workspace, { search, ...filter })).map(({ customer_id }) => customer_id)
    expect(await ids({})).toEqual([other, account, contact])
    expect(await ids({ customer_type: 'account' })).toEqual([account])
    expect(await ids({ customer_type: 'contact' })).toEqual([other, contact])
    expect(await ids({ client_customer_id: 'a-1' })).toEqual([account, contact])
    expect(await ids({ client_customer_id: 'a-1', customer_type: 'contact' })).toEqual([contact])
    expect(await ids({ client_customer_id: 'a-1' }, 'grace')).toEqual([])
    expect(await ids({ client_customer_id: 'a-3' })).toEqual([])
  })

  it("never finds another workspace's", async ({ cairn }) => {
    const other = await workspaceWith(cairn, 'Ada Lovelace')
    await customer(other, { name: 'x', id: 'ada-1' })
    const workspace = await workspaceWith(cairn, 'Ada King')
    expect(await namesFound(workspace, 'ada')).toEqual(['Ada King'])
    expect(await namesFound(await cairn.workspace(), 'ada')).toEqual([])
  })

  it('accepts 255 characters and refuses 256, none, and NUL', async ({ cairn }) => {
    const long = 'a'.repeat(255)
    const { client, ...workspace } = await workspaceWith(cairn, `${'a'.repeat(254)}b`, long)
    expect(await namesFound({ client, ...workspace }, long)).toEqual([long])
    expect(await namesFound({ client, ...workspace }, 'a'.repeat(33))).toHaveLength(2)
    for (const search of [`${long}a`, '', 'a\0']) {
      const { error } = await client.listCustomers({ query: { search } })
      expect(error).toMatchObject({ status: 400, errors: [{ parameter: 'search' }] })
    }
  })
})

describe('a search that finds more than 10,000 customers', () => {
  it('returns the same, in the same order, in pages of any size', async () => {
    const at = await startCairnForTest()
    const workspace = await at.workspace()
    const others = await at.workspace()
    const { workspace_id } = workspace
    const { run } = await connectTo(at.databaseUrl)
    await run(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
      INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name, name_key,
        created_ms, updated_ms)
      SELECT '${workspace_id}', 'cus_${'0'.repeat(18)}' || substr(CAST(100000000 + n AS TEXT), 2), CASE WHEN n % 3 = 0 THEN 'account' ELSE 'contact' END, 'user-' || n,
        'Ada', ' ada', n / 2, n FROM numbers;
      INSERT INTO customer_words SELECT workspace_id, 'ada', created_ms, customer_id FROM customers`)
    for (const name of ['Grace', 'Bada']) await customer(workspace, { name })
    await customer(others, { name: 'Ada elsewhere' })

    const all = await found({ ...workspace }, { search: 'a' }, 500)
    expect(all).toHaveLength(10_000)
    const positions = all.map(({ created_at, customer_id }) => created_at + customer_id)
    expect(positions).toEqual(positions.toSorted().reverse())
    const accounts = await found(workspace, { search: 'ADA', customer_type: 'account' }, 100)

    // With one more, the search uses another strategy.
    const last = await customer(workspace, { name: 'ada the last' })
    const more = await found(workspace, { search: 'ada' }, 499)
    expect(more.map(({ customer_id }) => customer_id)).toEqual([
      last,
      ...all.map(({ customer_id }) => customer_id),
    ])
    expect(await found(workspace, { search: 'Ada', customer_type: 'account' }, 100)).toEqual(accounts)
    expect(accounts).toEqual(all.filter(({ customer_type }) => customer_type === 'account'))
    const { client_customer_id = '' } = all[7] ?? {}
    expect(await found(workspace, { search: 'ada', client_customer_id })).toEqual([all[7]])
    // Few match by name, many by identifier.
    await customer(workspace, { name: 'User of ours', id: 'x-1' })
    await customer(workspace, { name: 'Grace', id: 'user-10001' })
    const byBoth = await found(workspace, { search: 'user' }, 500)
    expect(byBoth.slice(0, 2).map(({ client_customer_id }) => client_customer_id)).toEqual([
      'user-10001',
      'x-1',
    ])
    expect(byBoth.slice(2)).toEqual(all)
  })
})
