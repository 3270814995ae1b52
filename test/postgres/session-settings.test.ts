// engines: postgres (what only PostgreSQL has)

import { describe, expect, it, onTestFinished } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Connection, Servers } from '../../server/storage/postgres/connection/connection.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { initialize } from '../fixtures/customer.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { openStoreForTest } from '../fixtures/store.ts'
import { startProxy } from './proxy.ts'

/** Settings of a role, a database or a server that differ from PostgreSQL's defaults. */
const otherwise = {
  array_nulls: 'off',
  bytea_output: 'escape',
  DateStyle: "'German, DMY'",
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  idle_session_timeout: "'1s'",
  IntervalStyle: 'sql_standard',
  lock_timeout: "'1ms'",
  standard_conforming_strings: 'off',
  TimeZone: "'Pacific/Chatham'",
  transform_null_equals: 'on',
}

/** A database whose sessions start with these settings. */
async function databaseWith(settings: Record<string, string>): Promise<string> {
  const url = await newDatabase()
  const database = new URL(url).pathname.slice(1)
  await runSql(
    url,
    ...Object.entries(settings).map(([name, value]) => `ALTER DATABASE ${database} SET ${name} = ${value}`),
  )
  return url
}

/** Refused if a node of Citus has them: Cairn can set them only where it is connected. */
const ofNodes = [
  'array_nulls',
  'default_transaction_isolation',
  'standard_conforming_strings',
  'transform_null_equals',
]

describe('a database whose sessions start with other settings', () => {
  const possible = Object.fromEntries(
    Object.entries(otherwise).filter(([name]) => !isDistributed || !ofNodes.includes(name)),
  )

  it.each([
    ...Object.entries(possible).map(([name, value]) => ({ name, settings: { [name]: value } })),
    { name: 'all of them', settings: possible },
  ])('stores and returns everything that it is sent: $name', async ({ settings }) => {
    const cairn = await startCairnForTest({ databaseUrl: await databaseWith(settings) })
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    const own = String.raw`100% C:\new\x00 O'Brien_`
    const named = await initialize(workspace, own)
    const sent = [
      { event_id: 'signed_up', message_id: String.raw`\x41`, occurred_at: '2026-03-29T02:30:00.123Z' },
      { event_id: String.raw`back\slash`, custom_variables: { path: String.raw`C:\t'`, none: null } },
      { event_id: 'plan_chosen' },
    ].map((event) => ({ journey_id, customer_id, ...event }))
    const steps = ['signed_up', 'plan_chosen'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })

    const batch = await client.createEvents({ body: { events: sent } })
    expect(batch.data?.results.map(({ status }) => status)).toEqual(['created', 'created', 'created'])
    const again = await client.createEvents({ body: { events: sent.slice(0, 1) } })
    expect(again.data?.results.map(({ status }) => status)).toEqual(['duplicate'])

    // In the order of following, which is settled a moment later.
    const followed = async () => (await client.listEvents({ query: { order: 'oldest' } })).data?.data
    await expect.poll(followed).toMatchObject(sent)
    const found = await client.listCustomers({ query: { search: String.raw`100% C:\new` } })
    expect(found.data?.data.map((customer) => customer.customer_id)).toEqual([named])
    const headers = { 'x-service-key': workspace.secret_key }
    const exported = await (await cairn.fetch('/events/export', { headers })).text()
    const lines = jsonLines(exported)
    expect(lines).toMatchObject([...sent, { end: 3 }])
    const reached = async () => {
      const { data } = await client.getJourneyReport({ path: { journey_id } })
      return data?.steps.map((step) => step.reached)
    }
    await expect.poll(reached).toEqual([1, 1])
  })
})

describe('nodes of Citus', () => {
  it.skipIf(isDistributed)(
    'are refused with the statement to run if they read statements otherwise',
    async () => {
      const url = await newDatabase()
      // As of a worker, whose sessions are the coordinator's.
      await runSql(
        url,
        `CREATE FUNCTION run_command_on_workers(command text)
      RETURNS TABLE (nodename text, nodeport integer, success boolean, result text) LANGUAGE plpgsql
      SET standard_conforming_strings = off AS $$ BEGIN
        SELECT 'lost.example.com', 5432, false, 'failed to connect' INTO nodename, nodeport, success, result;
        RETURN NEXT;
        SELECT 'worker.example.com', true INTO nodename, success;
        EXECUTE command INTO result;
        RETURN NEXT;
      END $$`,
      )
      const migrate = () => runCairn(['migrate'], { environment: { DATABASE_URL: url } })
      const refused = { code: 1, stdout: '' }
      const message =
        /the node worker\.example\.com:5432 has unsuitable settings: standard_conforming_strings is 'off'\. Run `ALTER ROLE \S+ SET standard_conforming_strings = 'on'` there/
      expect(await migrate()).toMatchObject({ ...refused, stderr: expect.stringMatching(message) })
      await expect(openStoreForTest({ databaseUrl: url })).rejects.toThrow(message)

      const role = 'ALTER FUNCTION run_command_on_workers SET standard_conforming_strings = '
      await runSql(url, `${role} on`)
      expect(await migrate()).toMatchObject({ code: 0, stderr: '' })
      await runSql(url, `${role} off`)
      const listing = await runCairn(['key', 'list', '--workspace', 'acme'], {
        environment: { DATABASE_URL: url },
      })
      expect(listing).toMatchObject({ ...refused, stderr: expect.stringMatching(message) })
    },
  )
})

describe('behind a pooler, which returns any session', () => {
  it('such settings are refused with the statement to run', async () => {
    const url = await databaseWith({ ...otherwise, application_name: 'other' })
    const proxy = await startProxy(url, { isPooler: true })
    const refused = await runCairn(['migrate'], { environment: { DATABASE_URL: proxy.url } })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    for (const [name, value] of [
      ['array_nulls', 'on'],
      ['default_transaction_isolation', 'read committed'],
      ['standard_conforming_strings', 'on'],
      ['transform_null_equals', 'off'],
    ]) {
      expect(refused.stderr).toContain(`${name} is '`)
      expect(refused.stderr).toMatch(new RegExp(`ALTER ROLE \\S+ SET ${name} = '${value}'`))
    }
  })

  it('each transaction gets the time limits that the pooler ignores', async () => {
    const { url } = await startProxy(await newDatabase(), { isPooler: true })
    const connection = await Connection.open(new Servers(readAddress(url)), { statement_ms: 4_000 })
    onTestFinished(() => connection.close())
    await connection.run('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    const limits = async () => {
      const names = ['statement_timeout', 'idle_in_transaction_session_timeout']
      const { rows } = await connection.run(
        `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
      )
      return rows
    }
    await connection.begin()
    expect(await limits()).toEqual([{ statement_timeout: '4s', idle_in_transaction_session_timeout: '10s' }])
    await connection.run('COMMIT')
    expect(await limits()).toEqual([{ statement_timeout: '0', idle_in_transaction_session_timeout: '0' }])
  })

  it('others are used as they are', async () => {
    const { TimeZone, DateStyle, IntervalStyle, bytea_output, lock_timeout } = otherwise
    const url = await databaseWith({ TimeZone, DateStyle, IntervalStyle, bytea_output, lock_timeout })
    const proxy = await startProxy(url, { isPooler: true })
    const { code, stderr } = await runCairn(['migrate'], { environment: { DATABASE_URL: proxy.url } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})
