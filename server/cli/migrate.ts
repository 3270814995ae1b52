import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { openDatabase } from '../storage/open.ts'
import type { CommandIo } from './command-io.ts'
import { assertFolder } from './store.ts'

const HELP = `
A server does the same when it starts, so you never need this command. Use it to migrate beforehand or in another way: over a
direct connection if servers connect through a pooler, or with another role. Several processes may migrate at once. On
PostgreSQL, servers of the previous version can go on meanwhile; on SQLite, stop the server first. If there is no store, an
empty one is created.`

export function defineMigrate(command: Command, config: () => Config, io: CommandIo): void {
  command.addHelpText('after', HELP).action(() => migrate(config(), io))
}

async function migrate({ databaseUrl }: Config, io: CommandIo) {
  assertFolder(databaseUrl)
  const opened = await openDatabase(databaseUrl, {
    create: true,
    onMigration: ({ name, number, total }) => io.stdout.write(`Migration ${number} of ${total}: ${name}\n`),
  })
  await opened?.close()
  io.stdout.write('The schema is up to date.\n')
}
