import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { components } from '../../generated/contract.ts'
import type { Config } from '../config.ts'
import { EMAIL } from '../domain/emails.ts'
import { newId } from '../domain/identifiers.ts'
import type { Page } from '../domain/paging.ts'
import { Passwords } from '../http/callers/passwords.ts'
import type { Database } from '../storage/database.ts'
import { commandLine } from '../storage/tables/audit-log.ts'
import { addMember as addAuditedMember, replacePassword } from '../storage/tables/audited-changes.ts'
import { newestMembers } from '../storage/tables/members.ts'
import { findPersonByEmail, insertPerson } from '../storage/tables/people.ts'
import { deleteFirstSetupLink } from '../storage/tables/setup-links.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { name } from './options.ts'
import { inStore } from './store.ts'
import { columns, printable } from './table.ts'
import { workspaceOf } from './workspace.ts'

type Member = components['schemas']['Member']
type Role = components['schemas']['Role']
type AddOptions = {
  workspace?: string
  email: string
  name?: string
  existing?: boolean
  role: Role
  json?: boolean
}

/** The limits in the contract (`NewPassword`). */
const PASSWORD_LENGTHS = { least: 12, most: 256 }

/** Maximum members listed; nobody reads more rows in a terminal. */
const LISTED = 10_000

export function defineMember(member: Command, config: () => Config, io: CommandIo): void {
  const workspace = () =>
    new Option('--workspace <name>', 'workspace of the members; required if there are several').argParser(
      name,
    )
  const json = () => new Option('--json', 'print one JSON value only')
  const address = () => new Option('--email <email>').argParser(email).makeOptionMandatory()
  const stdin = '\nPrompts for the password, or reads it from standard input if that is not a terminal.'

  member
    .command('add')
    .description('add a member, who signs in with email and password')
    .addOption(workspace())
    .addOption(address())
    .option('--name <name>', 'name of the person in lists; required for a new person', name)
    .option('--existing', 'add an existing person, keeping name and password')
    .addOption(new Option('--role <role>').choices(['owner', 'admin', 'viewer']).default('owner'))
    .addOption(json())
    .addHelpText('after', stdin)
    .action((options: AddOptions) => add(config(), io, options))
  member
    .command('list')
    .description('list the members of a workspace')
    .addOption(workspace())
    .addOption(json())
    .action((options: { workspace?: string; json?: boolean }) => list(config(), io, options))
  member
    .command('set-password')
    .description('set a new password, for example after it was forgotten, and end all sessions')
    .addOption(address())
    .addHelpText('after', stdin)
    .action((options: { email: string }) => setPassword(config(), io, options))
}

async function add(config: Config, io: CommandIo, options: AddOptions) {
  const { email, role, json } = options
  const known = await inStore(config.databaseUrl, (db) => findPersonByEmail(db, email))
  // Emails are not verified: the person who created this account need not be the one that the operator means.
  if (known && !options.existing) {
    const who = `${printable(known.name)} already signs in with this email`
    throw new CommandFailure(`${who}; use --existing to add that person`, ExitCode.conflict)
  }
  if (!known && options.existing) {
    throw new CommandFailure('no person has this email', ExitCode.conflict)
  }
  if (options.existing && options.name !== undefined) {
    throw new CommandFailure('--existing keeps the name; remove --name', ExitCode.usage)
  }
  if (!known && options.name === undefined) {
    throw new CommandFailure('--name is required for a new person', ExitCode.usage)
  }
  // Outside the transaction, because it waits for the person to type.
  const password_hash =
    known?.password_hash ?? (await new Passwords().hash(await readPassword(io), options.email))
  const made = await inStore(config.databaseUrl, async (db) => {
    const { workspace_id } = await workspaceOf(db, options.workspace)
    const joined_ms = Date.now()
    const person = known ?? { person_id: newId('per'), name: options.name ?? '', email, password_hash }
    if (!known && !(await insertPerson(db, { ...person, created_ms: joined_ms }))) {
      throw new CommandFailure(
        'the person was created in the meantime; run the command again',
        ExitCode.conflict,
      )
    }
    if (!(await addAuditedMember(db, { workspace_id, role }, person, commandLine(joined_ms)))) {
      throw new CommandFailure('the person is already a member', ExitCode.conflict)
    }
    // Otherwise its holder could create another workspace beside this one.
    await deleteFirstSetupLink(db)
    return { person_id: person.person_id, name: person.name, email: person.email, role }
  })
  io.stdout.write(
    json ? `${JSON.stringify(made)}\n` : `${printable(made.name)} is now ${article(role)} ${role}.\n`,
  )
}

async function list(
  config: Config,
  io: CommandIo,
  { workspace, json }: { workspace?: string; json?: boolean },
) {
  const members = await inStore(config.databaseUrl, async (db) => {
    return await listedMembers(db, (await workspaceOf(db, workspace)).workspace_id)
  })
  const table = members.map(({ email, role, joined_at, name }) => [email, role, joined_at, name])
  const printed = columns([['EMAIL', 'ROLE', 'JOINED', 'NAME'], ...table])
  io.stdout.write(json ? `${JSON.stringify(members)}\n` : printed)
}

async function listedMembers(db: Database, workspaceId: string): Promise<Member[]> {
  const members: Member[] = []
  for (let page: Page | undefined = { limit: 500 }; page && members.length < LISTED; ) {
    const { rows, next } = await newestMembers(db, workspaceId, {}, page)
    members.push(...rows)
    page = next ? { ...page, after: next } : undefined
  }
  return members
}

async function setPassword(config: Config, io: CommandIo, { email }: { email: string }) {
  const person = await inStore(config.databaseUrl, (db) => findPersonByEmail(db, email))
  if (!person) throw new CommandFailure('no person has this email', ExitCode.conflict)
  const hash = await new Passwords().hash(await readPassword(io), email)
  await inStore(config.databaseUrl, async (db) => {
    const changed = { ...person, password_hash: hash }
    await replacePassword(db, changed, commandLine(Date.now()), 'password_changed')
  })
  io.stdout.write(`The password of ${printable(person.name)} has been changed.\n`)
}

/** Prompts on a terminal without echoing; otherwise reads the first line of standard input. */
async function readPassword({ stdin, stderr }: CommandIo): Promise<string> {
  const isTerminal = stdin.isTTY === true
  if (isTerminal) stderr.write('Password: ')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: silent, terminal: isTerminal })
  const { value: password = '' } = await lines[Symbol.asyncIterator]().next()
  lines.close()
  if (isTerminal) stderr.write('\n')
  const length = [...password].length
  const { least, most } = PASSWORD_LENGTHS
  if (length < least || length > most || password.includes('\0')) {
    throw new CommandFailure(`the password must have ${least} to ${most} characters`, ExitCode.usage)
  }
  return password
}

function email(text: string): string {
  if (!EMAIL.test(text)) throw new InvalidArgumentError('Write it as ada@example.com.')
  return text
}

function article(role: Role): string {
  return role === 'viewer' ? 'a' : 'an'
}
