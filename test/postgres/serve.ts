/** Development: `node test/postgres/serve.ts` runs a PostgreSQL server until it is stopped, and prints its URL. */
import { programsForTests } from '../fixtures/postgres/programs.ts'
import { postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'

const server = await startPostgresServer(programsForTests())
const { folder } = server
process.stdout.write(`${JSON.stringify({ url: postgresUrl(folder), folder, pid: server.pid() })}\n`)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, server.remove)
