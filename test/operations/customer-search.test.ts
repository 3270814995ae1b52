import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../cairn.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

type Customer = { name: string; id?: string; type?: 'contact' | 'account' }

let customers = 0

/** Initializes a customer; without an identifier with one that no search of these tests begins. */
async function customer({ client, journey_id }: Workspace, { name, id, type = 'contact' }: Customer) {
  customers += 1
  const { data, error } = await client.initializeCustomer({
    body: {
      client_customer_id: id ?? `#${customers}`,
      journey_id,
      customer_type: type,
      customer_name: name,
    },
  })
  if (error) throw new Error(error.detail)
  return data.customer_id
}

/** A workspace with customers of these names. */
async function workspaceWith(...names: string[]): Promise<Workspace> {
  const workspace = await cairn.workspace()
  for (const name of names) await customer(workspace, { name })
  return workspace
}

type Filter = { search: string; customer_type?: 'contact' | 'account'; client_customer_id?: string }

/** Every customer that is found, page by page. */
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

/** The names that are found, newest first. */
async function namesFound(workspace: Workspace, search: string): Promise<string[]> {
  return (await found(workspace, { search })).map(({ customer_name }) => customer_name)
}

describe('a search for customers', () => {
  it('finds those whose name begins with the text, in whatever letter case, newest first', async () => {
    const workspace = await workspaceWith('Ada Lovelace', 'Alan Turing', 'ADA KING', 'Grace', 'ada', 'Canada')
    expect(await namesFound(workspace, 'ada')).toEqual(['ada', 'ADA KING', 'Ada Lovelace'])
    expect(await namesFound(workspace, 'ADA')).toEqual(['ada', 'ADA KING', 'Ada Lovelace'])
    expect(await namesFound(workspace, 'aDa ')).toEqual(['ADA KING', 'Ada Lovelace'])
    expect(await namesFound(workspace, 'Ada Lovelace')).toEqual(['Ada Lovelace'])
    expect(await namesFound(workspace, 'Ada Lovelaces')).toEqual([])
    expect(await namesFound(workspace, 'Lovelace')).toEqual([])
    expect(await namesFound(workspace, ' ada')).toEqual([])
  })

  it('finds the same characters however they are written', async () => {
    const workspace = await workspaceWith(
      'ＡＤＡ fullwidth',
      'Zoe\u0308',
      'Zo\u00eb',
      'ﬁnance',
      'Ωmega',
      'ÉCOLE',
    )
    expect(await namesFound(workspace, 'ada')).toEqual(['ＡＤＡ fullwidth'])
    expect(await namesFound(workspace, 'ａｄａ')).toEqual(['ＡＤＡ fullwidth'])
    for (const search of ['zo\u00eb', 'ZOE\u0308']) {
      expect(await namesFound(workspace, search)).toEqual(['Zo\u00eb', 'Zoe\u0308'])
    }
    expect(await namesFound(workspace, 'FINANCE')).toEqual(['ﬁnance'])
    expect(await namesFound(workspace, 'ωMEGA')).toEqual(['Ωmega'])
    expect(await namesFound(workspace, 'e\u0301cole')).toEqual(['ÉCOLE'])
  })

  it('finds those whose own identifier begins with the text, exactly as it is written', async () => {
    const workspace = await cairn.workspace()
    for (const id of ['user-1', 'user-10', 'User-1', 'my-user-1', 'ｕser-1']) {
      await customer(workspace, { name: `named ${id}`, id })
    }
    await customer(workspace, { name: 'account', id: 'user-1', type: 'account' })
    expect(await namesFound(workspace, 'user-1')).toEqual(['account', 'named user-10', 'named user-1'])
    expect(await namesFound(workspace, 'User-1')).toEqual(['named User-1'])
    expect(await namesFound(workspace, 'USER-1')).toEqual([])
    expect(await namesFound(workspace, 'user-100')).toEqual([])
  })

  it('finds each customer once, by name as by identifier', async () => {
    const workspace = await cairn.workspace()
    const both = await customer(workspace, { name: 'ada', id: 'ada-1' })
    const byName = await customer(workspace, { name: 'Ada' })
    const byIdentifier = await customer(workspace, { name: 'Grace', id: 'ada-2' })
    const ids = (await found(workspace, { search: 'ada' })).map(({ customer_id }) => customer_id)
    expect(ids).toEqual([byIdentifier, byName, both])
  })

  it('takes every character for itself', async () => {
    const names = [
      '100% Ltd',
      '1000 Ltd',
      'a_b',
      'acb',
      '*',
      '[x]',
      "O'Neil",
      '"quoted"',
      '\\back',
      'x\u0001y',
      '😀 smile',
    ]
    const workspace = await workspaceWith(...names)
    for (const [search, ...expected] of [
      ['%'],
      ['_'],
      ['100%', '100% Ltd'],
      ['a_', 'a_b'],
      ['*', '*'],
      ['[x', '[x]'],
      ["o'", "O'Neil"],
      ["' OR 1=1 --"],
      ['"', '"quoted"'],
      ['\\', '\\back'],
      ['x\u0001', 'x\u0001y'],
      ['😀', '😀 smile'],
      ['\u{10fffd}'],
    ] as [string, ...string[]][]) {
      expect([search, await namesFound(workspace, search)]).toEqual([search, expected])
    }
  })

  it('finds a name that goes on with any character', async () => {
    const names = ['ada\u{10fffd}', 'ada\uffff', 'ada\ue000', 'ada😀', 'ada~', 'ada!', 'ada\u0001', 'ada']
    const workspace = await workspaceWith(...names)
    expect((await namesFound(workspace, 'ada')).sort()).toEqual(names.sort())
  })

  it('finds the new name after a change, and the old one no more', async () => {
    const workspace = await cairn.workspace()
    await customer(workspace, { name: 'Ada Lovelace', id: 'user-1' })
    await customer(workspace, { name: 'Countess', id: 'user-1' })
    expect(await namesFound(workspace, 'ada')).toEqual([])
    expect(await namesFound(workspace, 'count')).toEqual(['Countess'])
    await customer(workspace, { name: 'countess', id: 'user-1' })
    expect(await namesFound(workspace, 'COUNT')).toEqual(['countess'])
  })

  it('goes together with the other filters', async () => {
    const workspace = await cairn.workspace()
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

  it("never finds another workspace's", async () => {
    const other = await workspaceWith('Ada Lovelace')
    await customer(other, { name: 'x', id: 'ada-1' })
    const workspace = await workspaceWith('Ada King')
    expect(await namesFound(workspace, 'ada')).toEqual(['Ada King'])
    expect(await namesFound(await cairn.workspace(), 'ada')).toEqual([])
  })

  it('takes 255 characters and refuses 256, none, and NUL', async () => {
    const long = 'a'.repeat(255)
    const { client, ...workspace } = await workspaceWith(long)
    expect(await namesFound({ client, ...workspace }, long)).toEqual([long])
    for (const search of [`${long}a`, '', 'a\0']) {
      const { error } = await client.listCustomers({ query: { search } })
      expect(error).toMatchObject({ status: 400, errors: [{ parameter: 'search' }] })
    }
  })
})

describe('a search that finds more than 2000 customers', () => {
  it('answers the same, in the same order, in pages of any size', async () => {
    const at = await startCairnForTest()
    const workspace = await at.workspace()
    const others = await at.workspace()
    const names = Array.from({ length: 2000 }, (_, at) => (at % 2 === 0 ? `Ada ${at}` : `ＡＤＡ ${at}`))
    const make = (name: string, at: number) =>
      customer(workspace, { name, id: `user-${at}`, type: at % 3 === 0 ? 'account' : 'contact' })
    while (names.length > 0) {
      const from = 2000 - names.length
      await Promise.all(names.splice(0, 100).map((name, at) => make(name, from + at)))
    }
    for (const name of ['Grace', 'Bada']) await customer(workspace, { name })
    await customer(others, { name: 'Ada elsewhere' })

    const all = await found({ ...workspace }, { search: 'a' }, 500)
    expect(all).toHaveLength(2000)
    const positions = all.map(({ created_at, customer_id }) => created_at + customer_id)
    expect(positions).toEqual(positions.toSorted().reverse())
    const accounts = await found(workspace, { search: 'ADA', customer_type: 'account' }, 100)

    // One more, and the customers are looked for in another way.
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
    // By name few, by identifier many.
    await customer(workspace, { name: 'User of ours', id: 'x-1' })
    await customer(workspace, { name: 'Grace', id: 'user-2000' })
    const byBoth = await found(workspace, { search: 'user' }, 500)
    expect(byBoth.slice(0, 2).map(({ client_customer_id }) => client_customer_id)).toEqual([
      'user-2000',
      'x-1',
    ])
    expect(byBoth.slice(2)).toEqual(all)
  })
})
