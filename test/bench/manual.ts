import { Kysely, SqliteDialect } from 'kysely'
import { type ManualTables, serveManual } from './manual-app.ts'
import { keyCheck, openPeerStore, peerOptions } from './peer.ts'

/** The peer `manual` on SQLite. */
const options = peerOptions()
const database = openPeerStore(options)
serveManual({
  db: new Kysely<ManualTables>({ dialect: new SqliteDialect({ database }) }),
  checkKey: keyCheck(database),
  port: options.port,
})
