// engines: none (analyses what other tests recorded)

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { ONE_SHARD_AT_A_TIME, TRANSACTION } from '../../server/storage/postgres/dialect.ts'
import { installedPrograms } from '../fixtures/postgres/programs.ts'
import { type PostgresServer, postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { definitionFaults, StatementAnalyst } from './citus-rules.ts'
import { recordedStatements } from './recorded-statements.ts'
import { EVERYWHERE } from './tables.ts'

const programs = installedPrograms()

describe.runIf(programs !== undefined)('the statements for PostgreSQL, by the rules of Citus', () => {
  let server: PostgresServer
  let analyst: StatementAnalyst
  let transactions: string[][]
  let ofIngestion: Set<string>

  beforeAll(async () => {
    server = await startPostgresServer(programs ?? '')
    const url = postgresUrl(server.folder, 'analysis')
    await runSql(postgresUrl(server.folder), 'CREATE DATABASE analysis')
    await inStore(url, async () => {}, { create: true })
    analyst = new StatementAnalyst(url)
    await analyst.open(EVERYWHERE)
    const { folder } = inject('run')
    const folders = readdirSync(folder)
      .filter((name) => name.startsWith('recorded-'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
    const recorded = await Promise.all(folders.map(recordedStatements))
    transactions = recorded.flatMap(({ transactions }) => transactions)
    ofIngestion = new Set(recorded.flatMap(({ prepared }) => [...prepared]))
  })

  afterAll(async () => {
    await analyst.close()
    await server.remove()
  })

  it.each([
    ['a query without columns', 'SELECT EXISTS (SELECT FROM journeys WHERE workspace_id = $1)'],
    [
      'a query without columns',
      'SELECT name FROM (SELECT) AS always LEFT JOIN journeys ON workspace_id = $1',
    ],
    ['a whole row', 'WITH p AS (SELECT 1 AS a, d FROM (SELECT now()) AS d) SELECT * FROM p'],
    ['a volatile function in an UPDATE or DELETE', 'UPDATE workspaces SET name = gen_random_uuid()::text'],
    [
      'the workspace of a row is set',
      'UPDATE webhooks SET url = $1, workspace_id = $2 WHERE workspace_id = $2',
    ],
    [
      'a table on every node is changed from a distributed one',
      'UPDATE workspaces SET erasures = (SELECT count(*) FROM erasures WHERE erasures.workspace_id = workspaces.workspace_id)',
    ],
    [
      'a subquery takes its workspace from the query around it',
      `SELECT id FROM events WHERE workspace_id = $1 AND
        (SELECT true FROM event_strays WHERE event_strays.workspace_id = events.workspace_id LIMIT 1) IS NOT TRUE`,
    ],
  ])('%s is recognized in %j', async (fault, statement) => {
    expect((await analyst.analyse(statement))?.faults).toEqual([fault])
  })

  it.each([
    [
      'a column is added with a constraint',
      "ALTER TABLE workspaces ADD COLUMN kind text CHECK (kind IN ('a'))",
    ],
    [
      'a column is added with a constraint',
      'ALTER TABLE views ADD COLUMN by text REFERENCES people (person_id)',
    ],
    [
      'a new table refers to one on every node and to a distributed one',
      'CREATE TABLE links (person_id text REFERENCES people, view_id text REFERENCES views)',
    ],
  ])('%s is recognized in %j', (fault, statement) => {
    expect(definitionFaults(statement, EVERYWHERE)).toEqual([fault])
  })

  it('a workspace that is set to itself is accepted', async () => {
    const statement = 'UPDATE journeys SET workspace_id = workspace_id WHERE 1 = 0'
    expect((await analyst.analyse(statement))?.faults).toEqual([])
  })

  it.each([
    "ALTER TABLE workspaces ADD CONSTRAINT kinds CHECK (kind IN ('a'))",
    'ALTER TABLE workspaces ADD COLUMN kind text -- CHECK (kind)',
    'CREATE TABLE links (view_id text REFERENCES views, journey_id text REFERENCES journeys)',
    'CREATE TABLE workspaces (person_id text REFERENCES people)',
  ])('%j is a definition that it accepts', (statement) => {
    expect(definitionFaults(statement, EVERYWHERE)).toEqual([])
  })

  it.each([
    ['SELECT name FROM journeys WHERE workspace_id = $1', false],
    ['SELECT name FROM journeys JOIN customers USING (workspace_id) WHERE workspace_id = $1', false],
    ['SELECT name FROM journeys', true],
    ['SELECT name FROM journeys JOIN customers USING (workspace_id)', true],
    ['SELECT name FROM workspaces', false],
  ])('%j reads all workspaces: %j', async (statement, readsAll) => {
    expect((await analyst.analyse(statement))?.readsAll).toBe(readsAll)
  })

  it.each([
    ['UPDATE service_keys SET name = $1 WHERE key_id = $2', true],
    ["INSERT INTO people VALUES ('per_1', '', '', '', '', 0)", true],
    ['UPDATE wrong_guesses SET failures = 0', false],
    ["UPDATE journeys SET name = '' WHERE workspace_id = $1", false],
    ['SELECT name FROM service_keys', false],
  ])('%j changes a table on every node with foreign keys: %j', async (statement, changesRelated) => {
    expect((await analyst.analyse(statement))?.changesRelated).toBe(changesRelated)
  })

  it('none of a run would be refused', async () => {
    const faulty = new Map<string, string[]>()
    for (const statement of new Set(transactions.flat())) {
      const isEmptyQuery = /^\s*DO\b|;\s*DO\b/.test(statement) && /\(\s*SELECT\s+FROM\b/.test(statement)
      const faults = [
        ...definitionFaults(statement, EVERYWHERE),
        ...(isEmptyQuery ? ['a query without columns'] : ((await analyst.analyse(statement))?.faults ?? [])),
      ]
      if (faults.length > 0) faulty.set(statement, faults)
    }
    expect([...faulty]).toEqual([])
  })

  it('each of ingestion is about one workspace, in every table that is distributed', async () => {
    const found: string[] = []
    for (const statement of ofIngestion) {
      if ((await analyst.analyse(statement))?.readsAll) found.push(statement)
    }
    expect(found).toEqual([])
  })

  it('no transaction of a run changes a table that is on every node after it has read all shards', async () => {
    const found: string[][] = []
    for (const statements of transactions) {
      if (statements.some((statement) => statement.includes(ONE_SHARD_AT_A_TIME))) continue
      let readsAll = false
      for (const statement of statements) {
        const analysis = await analyst.analyse(statement)
        if (readsAll && analysis?.changesEverywhere) found.push(statements)
        readsAll ||= analysis?.readsAll ?? false
      }
    }
    expect(found).toEqual([])
  })
  it('transactions of a run that change tables on every node with foreign keys wait for each other', async () => {
    const found: string[][] = []
    for (const statements of transactions) {
      if (statements.some((statement) => statement.includes(TRANSACTION.first))) continue
      for (const statement of statements) {
        if ((await analyst.analyse(statement))?.changesRelated) found.push(statements)
      }
    }
    expect(found).toEqual([])
  })
})
