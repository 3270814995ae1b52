// engines: sqlite, postgres

import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { cairnFile, runCairn, spawnCairn, startCommand } from '../fixtures/command.ts'
import { freePort } from '../fixtures/free-port.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { startFaultyProxy } from './importer.ts'

const variables = {
  type: 'object',
  properties: { plan: { type: 'string', enum: ['free', 'team'] }, seats: { type: 'integer' } },
  required: ['plan'],
}

/** A file for the plan of a workspace, and the commands on it. */
function planIn({ secret_key }: Workspace, url: string) {
  const file = join(temporaryFolder(), 'plan.yaml')
  const run = (command: string, ...args: string[]) =>
    runCairn(['plan', command, file, '--base-url', `${url}/v1`, ...args], {
      environment: { CAIRN_SERVICE_KEY: secret_key },
    })
  return { file, run, text: () => readFileSync(file, 'utf8') }
}

const plan = `
events:
  plan_chosen:
    description: A customer chose a plan
    mode: enforce
    variables:
      type: object
      properties:
        plan: { type: string, enum: [free, team] }
        seats: { type: integer }
      required: [plan]
  signed_up:
`

describe('cairn plan', () => {
  it('writes the definitions of a workspace, which another one can take over', async ({
    cairn,
    workspace,
    client,
  }) => {
    const description = 'A customer chose a plan: "team" or #free\n'
    for (const event_id of ['plan_chosen', 'yes', '404', 'Anmeldung ✓', 'constructor']) {
      await client.defineEvent({ body: { event_id, description, mode: 'off', variables } })
    }
    const own = planIn(workspace, cairn.url)
    expect(await own.run('pull')).toEqual({ code: 0, stdout: `${own.file}: 5 definitions\n`, stderr: '' })
    expect(await own.run('diff')).toEqual({ code: 0, stdout: '', stderr: '' })
    const another = await cairn.workspace()
    const moved = planIn(another, cairn.url)
    writeFileSync(moved.file, own.text())
    expect(await moved.run('diff')).toMatchObject({
      code: 5,
      stdout: expect.stringContaining('+ plan_chosen: new, mode off'),
    })
    expect(await moved.run('push')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n5 changes\n$/),
    })
    expect(await moved.run('pull', '--force')).toMatchObject({ code: 0 })
    expect(moved.text()).toBe(own.text())
    expect(await moved.run('push')).toMatchObject({ code: 0, stdout: '0 changes\n' })
  })

  it('reads a plan that a person wrote, and makes only what has changed', async ({
    cairn,
    workspace,
    client,
  }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, plan)
    expect((await own.run('push')).stdout).toBe(
      '+ plan_chosen: new, mode enforce\n+ signed_up: new, mode warn\n2 changes\n',
    )
    const note = '        note: { type: string }\n'
    writeFileSync(
      own.file,
      plan.replace('      required', `${note}      required`).replace('enforce', 'warn'),
    )
    const expected = '~ plan_chosen: mode enforce becomes warn, a new revision\n    /note is a new field\n'
    expect(await own.run('diff')).toMatchObject({ code: 5, stdout: expected })
    expect((await own.run('push')).stdout).toBe(`${expected}1 change\n`)
    const { data } = await client.listEventDefinitions()
    expect(data?.data.map(({ event_id, revision }) => [event_id, revision])).toEqual([
      ['signed_up', 1],
      ['plan_chosen', 2],
    ])
  })

  it.for([
    ['[free, team]', '[free]', '/plan has another list of values (breaking for senders)'],
    [
      'required: [plan]',
      'required: []',
      '/plan is now optional: readers must expect events without it (breaking for readers)',
    ],
  ] as const)(
    'makes a breaking change only if that is confirmed, and nothing else before: %s becomes %s',
    async ([before, after, difference], { cairn, workspace, client }) => {
      const own = planIn(workspace, cairn.url)
      writeFileSync(own.file, plan)
      await own.run('push')
      writeFileSync(own.file, `${plan.replace(before, after)}  trial_begun:\n`)
      const line = `    ${difference}\n`
      expect(await own.run('diff')).toMatchObject({ code: 6, stdout: expect.stringContaining(line) })
      const refused = await own.run('push')
      expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining(line) })
      expect(refused.stderr).toContain('nothing was changed. Use --confirm-breaking.')
      expect((await client.listEventDefinitions()).data?.data).toHaveLength(2)
      expect((await own.run('push', '--confirm-breaking')).stdout).toContain('2 changes')
      expect(await own.run('diff')).toMatchObject({ code: 0 })
    },
  )

  it.for([{ args: [] }, { args: ['--confirm-breaking'] }])(
    'makes no change that has become breaking meanwhile, with $args',
    async ({ args }, { cairn, workspace, client }) => {
      const wider = {
        ...variables,
        properties: { ...variables.properties, added: { type: 'string' } },
      } as const
      let isEdited = false
      const url = await startFaultyProxy(cairn.url, async (_, { method }) => {
        if (!definition_id || isEdited || method === 'GET') return undefined
        isEdited = true
        await client.updateEventDefinition({ path: { definition_id }, body: { variables: wider } })
        return undefined
      })
      let definition_id = ''
      const own = planIn(workspace, url)
      writeFileSync(own.file, plan)
      await own.run('push')
      const chosen = async () => {
        const { data } = await client.listEventDefinitions()
        return data?.data.find(({ event_id }) => event_id === 'plan_chosen')
      }
      definition_id = (await chosen())?.definition_id ?? ''
      writeFileSync(own.file, plan.replace('A customer chose a plan', 'Chosen'))
      expect(await own.run('push', ...args)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('breaking'),
      })
      expect((await chosen())?.variables).toEqual(wider)
    },
  )

  it('removes what is not in the file only with --remove', async ({ cairn, workspace, client }) => {
    const own = planIn(workspace, cairn.url)
    await client.defineEvent({ body: { event_id: 'old' } })
    writeFileSync(own.file, plan)
    expect(await own.run('diff')).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('- old: only in the'),
    })
    const kept = await own.run('push')
    expect(kept.stderr).toContain('1 definition is only in the workspace; --remove removes them')
    expect((await client.listEventDefinitions()).data?.data).toHaveLength(3)
    expect((await own.run('push', '--remove')).stdout).toBe('- old: only in the workspace\n1 change\n')
    expect(await own.run('diff')).toMatchObject({ code: 0 })
  })

  it('replaces a file only with --force', async ({ cairn, workspace }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, 'mine')
    expect(await own.run('pull')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('already exists'),
    })
    expect(own.text()).toBe('mine')
    expect(await own.run('pull', '--force')).toMatchObject({ code: 0 })
    expect(own.text()).toContain('events: {}')
  })

  it('replaces a file completely or not at all, with the mode and the link that it has', async ({
    cairn,
    workspace,
  }) => {
    const own = planIn(workspace, cairn.url)
    const folder = dirname(own.file)
    const [target, link] = [join(folder, 'target.yaml'), join(folder, 'link.yaml')]
    writeFileSync(target, 'mine')
    chmodSync(target, 0o640)
    symlinkSync(target, link)
    const pull = ['plan', 'pull', link, '--force', '--base-url', `${cairn.url}/v1`]
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    // No file can grow, as on a full disk.
    const limited = ['-c', 'ulimit -f 0; exec "$@"', 'bash', process.execPath, cairnFile, ...pull]
    const full = await startCommand('bash', limited, { environment }).ended
    expect(full).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EFBIG') })
    expect(readFileSync(target, 'utf8')).toBe('mine')
    expect(await runCairn(pull, { environment })).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(target, 'utf8')).toContain('events: {}')
    expect(statSync(target).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder).toSorted()).toEqual(['link.yaml', 'target.yaml'])
    expect(readlinkSync(link)).toBe(target)
  })

  it.for([
    ['no YAML', 'events: [', 'cannot read'],
    ['a text', 'hello', 'must have events'],
    ['no events', '{}', 'must have events'],
    ['an unknown field', 'events: { a: { mod: warn } }', 'a: mod is not known'],
    ['an unknown mode', 'events: { a: { mode: strict } }', 'a: mode must be one of off, warn, enforce'],
    ['a description that is no text', 'events: { a: { description: 1 } }', 'a: description must be a string'],
    [
      'a definition with a fault',
      'events: { a: { variables: { type: object, required: [x] } } }',
      'a: variables/required/0 must be one',
    ],
    [
      'a field without a definition',
      'events: { a: { variables: { type: object, properties: { seats: } } } }',
      'a: variables/properties/seats must be object',
    ],
    [
      'a keyword that the contract does not have, after a definition without faults',
      'events: { a: {}, b: { variables: { type: object, properties: { plan: { pattern: x } } } } }',
      'b: variables/properties/plan must not have pattern',
    ],
    [
      'a number that JSON does not have',
      'events: { a: { variables: { type: object, properties: { seats: { minimum: .inf } } } } }',
      'a: variables/properties/seats/minimum must be number',
    ],
    ['an event whose name YAML reads as a number', 'events: { 1e3: {} }', 'as 1000, not as text; quote it'],
    [
      'a field whose name YAML reads as nothing',
      'events: { a: { variables: { type: object, properties: { ~: { type: string } } } } }',
      'as null, not as text; quote it',
    ],
    ['several faults', 'events: { a: { mode: x }, b: { mode: y } }', 'b: mode must'],
  ] as const)(
    'refuses a file with %s, and sends nothing',
    async ([, text, message], { cairn, workspace, client }) => {
      const own = planIn(workspace, cairn.url)
      writeFileSync(own.file, text)
      for (const command of ['push', 'diff']) {
        expect(await own.run(command)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
      }
      expect((await client.listEventDefinitions()).data?.data).toEqual([])
    },
  )

  it('takes quoted names as they are written, and fields from a merge key', async ({
    cairn,
    workspace,
    client,
  }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(
      own.file,
      `
events:
  '1e3': { variables: { type: object, properties: &common { '0x10': { type: string } } } }
  paid: { variables: { type: object, properties: { <<: *common, total: { type: number } } } }
`,
    )
    expect(await own.run('push')).toMatchObject({ code: 0, stderr: '' })
    const { data } = await client.listEventDefinitions()
    const found = data?.data.map(({ event_id, variables }) => [
      event_id,
      Object.keys(variables.properties ?? {}),
    ])
    expect(found?.toSorted()).toEqual([
      ['1e3', ['0x10']],
      ['paid', ['0x10', 'total']],
    ])
  })

  it('says how far it came if the server refuses a change', async ({ cairn, workspace, owner }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, 'events: { a: {}, b: {}, c: {} }')
    let changes = 0
    const url = await startFaultyProxy(cairn.url, async (_, { method }) => {
      if (method === 'GET' || changes++ === 0) return undefined
      const { data } = await owner.client().listServiceKeys({ query: { kind: 'secret', status: 'active' } })
      for (const { key_id } of data?.data ?? []) await owner.client().revokeServiceKey({ path: { key_id } })
      return undefined
    })
    const args = ['plan', 'push', own.file, '--base-url', `${url}/v1`]
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    const { code, stdout, stderr } = await runCairn(args, { environment })
    expect({ code, stdout }).toEqual({ code: 4, stdout: '+ a: new, mode warn\n' })
    expect(stderr).toMatch(/^cairn: b: refused: .*; 1 of 3 changes were made\n$/)
  })

  it.for([
    ['the same file', 'events: { a: {}, b: {} }', { code: 0, stderr: '' }],
    [
      'another file',
      'events: { a: {}, b: { mode: off } }',
      {
        code: 4,
        stderr: expect.stringMatching(
          /^cairn: b: another definition was created meanwhile.*; 1 of 3 changes were made\n$/,
        ),
      },
    ],
  ] as const)(
    'goes on after another push of %s has made its changes',
    async ([, others, end], { cairn, workspace, client }) => {
      await client.defineEvent({ body: { event_id: 'old' } })
      const [own, other] = [planIn(workspace, cairn.url), planIn(workspace, cairn.url)]
      writeFileSync(own.file, 'events: { a: {}, b: {} }')
      writeFileSync(other.file, others)
      let changes = 0
      const url = await startFaultyProxy(cairn.url, async (_, { method }) => {
        if (method === 'GET' || changes++ > 0) return undefined
        expect(await other.run('push', '--remove', '--confirm-breaking')).toMatchObject({ code: 0 })
        return undefined
      })
      const args = ['plan', 'push', own.file, '--remove', '--confirm-breaking', '--base-url', `${url}/v1`]
      const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
      expect(await runCairn(args, { environment })).toMatchObject(end)
      expect(await own.run('diff')).toMatchObject({ code: end.code === 0 ? 0 : 5 })
    },
  )

  it('stops at a signal before the next change, and continues when it is run again', async ({
    cairn,
    workspace,
    client,
  }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, 'events: { a: {}, b: {}, c: {} }')
    let changes = 0
    const url = await startFaultyProxy(cairn.url, (_, { method }) => {
      if (method === 'POST') changes += 1
      return changes > 1 ? 'unanswered' : undefined
    })
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    const command = spawnCairn(['plan', 'push', own.file, '--base-url', `${url}/v1`], { environment })
    await vi.waitUntil(() => changes > 1, withPatience)
    command.process.kill('SIGINT')
    expect(await command.ended).toMatchObject({
      code: 130,
      stdout: '+ a: new, mode warn\n',
      stderr: 'cairn: interrupted. Run the same command again to continue.\n',
    })
    expect((await client.listEventDefinitions()).data?.data).toMatchObject([{ event_id: 'a' }])
    expect(await own.run('push')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\+ b.*\n\+ c.*\n2 changes\n$/),
    })
  })

  it('says which server it cannot reach, and how much was changed before', async ({ cairn, workspace }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, 'events: { a: {}, b: {}, c: {} }')
    const url = await startFaultyProxy(cairn.url, (count) => (count > 2 ? 'dropped' : undefined))
    const args = ['plan', 'push', own.file, '--base-url', `${url}/v1`]
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    const { code, stdout, stderr } = await runCairn(args, { environment })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '+ a: new, mode warn\n' })
    const said = stderr.replace(/: [^:]+;/, ': WHY;')
    expect(said).toBe(`cairn: b: cannot reach ${url}: WHY; 1 of 3 changes were made\n`)
  })

  it('says that a response is not from Cairn, and how much was changed before', async ({
    cairn,
    workspace,
  }) => {
    const own = planIn(workspace, cairn.url)
    writeFileSync(own.file, 'events: { a: {}, b: {}, c: {} }')
    const url = await startFaultyProxy(cairn.url, (count) => (count > 2 ? 502 : undefined))
    const args = ['plan', 'push', own.file, '--base-url', `${url}/v1`]
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    expect(await runCairn(args, { environment })).toEqual({
      code: 1,
      stdout: '+ a: new, mode warn\n',
      stderr:
        'cairn: b: Unexpected response (status 502, no content type), not from Cairn. Check the base URL; 1 of 3 changes were made\n',
    })
  })

  it('is a command of its own, whose default file is cairn-plan.yaml', async ({ cairn, workspace }) => {
    const folder = temporaryFolder()
    const environment = { CAIRN_SERVICE_KEY: workspace.secret_key }
    const args = ['plan', 'pull', '--base-url', `${cairn.url}/v1`]
    expect(await spawnCairn(args, { environment, folder }).ended).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(folder, 'cairn-plan.yaml'))).toBe(true)
  })
})

describe('A command that calls the API', () => {
  it.each([
    'plan pull NEW',
    'plan diff FILE',
    'plan push FILE',
    'webhooks listen --forward http://127.0.0.1:9',
  ])('says which server it cannot reach: cairn %s', async (words) => {
    const folder = temporaryFolder()
    const file = join(folder, 'plan.yaml')
    writeFileSync(file, 'events: { a: {} }')
    const paths: Record<string, string> = { NEW: join(folder, 'new'), FILE: file }
    const port = await freePort()
    const { code, stdout, stderr } = await runCairn(
      words.split(' ').map((word) => paths[word] ?? word),
      { environment: { CAIRN_SERVICE_KEY: 'sk_any', PORT: `${port}` } },
    )
    const origin = `http://127.0.0.1:${port}`
    const reason = `connect ECONNREFUSED 127.0.0.1:${port}`
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `cairn: cannot reach ${origin}: ${reason}\n`,
    })
  })
})
