import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { openDatabase } from '../storage/open.ts'
import type { CommandIo } from './command-io.ts'
import { assertFolder } from './store.ts'

const HELP = `
A server does the same when it starts, so this is never needed; it is for who wants to do it before, or by another way: over
a direct connection where servers have a pooler in between, or as another role. Migrations only add, and several programs
may begin at once. Where there is no store, an empty one is made.`

export function defineMigrate(command: Command, config: () => Config, io: CommandIo): void {
  command.addHelpText('after', HELP).action(() => migrate(config(), io))
}

async function migrate({ databaseUrl }: Config, io: CommandIo) {
  assertFolder(databaseUrl)
  const opened = await openDatabase(databaseUrl, { create: true })
  await opened?.close()
  io.stdout.write('The schema is up to date.\n')
}
