// engines: sqlite, postgres

import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { type Cairn, startCairnForTest } from '../fixtures/cairn.ts'
import { engine, isDistributed } from '../fixtures/engine.ts'
import { inStore } from '../fixtures/in-store.ts'
import { signUp } from '../fixtures/people.ts'

it.skipIf(isDistributed)(
  'continues to write after transactions that the engine refused to commit',
  async () => {
    const cairn = await startCairnForTest()
    const owner = await signUp(cairn, await cairn.workspace(), 'owner')
    const create = (name: string) => owner.client().createJourney({ body: { name } })
    await refuseToCommit(cairn, 'refused')
    // More than the engine has connections.
    for (let sent = 0; sent < 25; sent += 1) expect((await create('refused')).response.status).toBe(500)
    expect((await create('taken')).response.status).toBe(201)
    const { data } = await owner.client().listJourneys({ query: {} })
    expect(data?.data.map(({ name }) => name).sort()).toEqual(['Onboarding', 'taken'])
  },
)

/** Makes the engine refuse to commit every transaction that creates a journey with the name. */
async function refuseToCommit({ databaseUrl }: Cairn, name: string) {
  const refused = sql.lit(name)
  const statements = {
    sqlite: [
      sql`CREATE TABLE owed (workspace_id TEXT REFERENCES workspaces (workspace_id) DEFERRABLE INITIALLY DEFERRED)`,
      sql`CREATE TRIGGER refuses AFTER INSERT ON journeys WHEN NEW.name = ${refused}
        BEGIN INSERT INTO owed VALUES ('none'); END`,
    ],
    postgres: [
      sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END'`,
      sql`CREATE CONSTRAINT TRIGGER refuses AFTER INSERT ON journeys DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.name = ${refused}) EXECUTE FUNCTION refuse()`,
    ],
  }
  await inStore(databaseUrl, async (db) => {
    for (const statement of statements[engine]) await statement.execute(db)
  })
}
