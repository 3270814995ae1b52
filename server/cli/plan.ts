import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { type Client, type Schemas, UnexpectedResponseError } from '../../client/index.ts'
import type { Config } from '../config.ts'
import type { DefinedValue } from '../domain/event-definitions.ts'
import { writeWholeFile } from '../storage/private-file.ts'
import { apiClient, Unreachable } from './api-client.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertWritable } from './named-files.ts'
import { type ApiOptions, withApi } from './options.ts'
import { causeText } from './patient-fetch.ts'
import { changeText, isBreaking, type PlanChange, planChanges, verdictOn } from './plan/plan-changes.ts'
import { type Plan, planText, readPlan } from './plan/plan-file.ts'
import { allItems, dataOf } from './replies.ts'
import { interruptible } from './signals.ts'
import { countText, printable } from './table.ts'

type Options = ApiOptions & {
  force?: boolean
  remove?: boolean
  confirmBreaking?: boolean
}

/** Options and the signal that stops the command. */
type Run = Options & { signal: AbortSignal }

const FILE = 'cairn-plan.yaml'

const HELP = `
The secret key is read from the environment variable CAIRN_SERVICE_KEY or from --key-file.

FILE has all event definitions of a workspace, so that a team can keep them beside its code and review changes:

  events:
    plan_chosen:
      description: A customer chose a plan
      mode: warn            # off, warn (default) or enforce
      variables:            # JSON Schema, as in the API; absent: any object
        type: object
        properties:
          plan: { type: string, enum: [free, team] }
        required: [plan]

diff prints what push would change. Exit codes: 0 nothing, 5 only additive changes, 6 a breaking one.`

export function definePlan(plan: Command, config: () => Config, io: CommandIo): void {
  const define = (
    name: string,
    description: string,
    run: (client: Client, file: string, options: Run) => Promise<void>,
  ) =>
    withApi(plan.command(name).description(description).argument('[file]', 'YAML file', FILE), 'secret key')
      .addHelpText('after', HELP)
      .action((file: string, options: Options) =>
        interruptible('Run the same command again to continue.', ({ signal }) =>
          run(apiClient(config(), io, options, 'the plan'), file, { ...options, signal }),
        ),
      )
  define(
    'pull',
    'write the definitions of the workspace to a file',
    async (client, file, { force, signal }) => {
      assertWritable(file)
      if (existsSync(file) && !force) {
        const advice = 'Compare it with cairn plan diff, or replace it with --force.'
        throw new CommandFailure(`${file} already exists. ${advice}`, ExitCode.conflict)
      }
      const { plan } = await planOf(client, signal)
      writeWholeFile(file, planText(plan))
      io.stdout.write(`${file}: ${countText(plan.size, 'definition')}\n`)
    },
  ).option('--force', 'replace an existing file')
  define('diff', 'print what push would change', async (client, file, { signal }) => {
    const plan = readPlan(file)
    const changes = planChanges((await planOf(client, signal)).plan, plan)
    io.stdout.write(changes.map(changeText).join(''))
    const verdict = verdictOn(changes)
    if (verdict === 'none') return
    const exitCode = verdict === 'breaking' ? ExitCode.breaking : ExitCode.additive
    throw new CommandFailure(`the workspace differs from ${file} (${verdict})`, exitCode)
  })
  define('push', 'change the workspace as the file says', async (client, file, options) => {
    await push(client, io, readPlan(file), options)
  })
    .option('--confirm-breaking', 'make breaking changes too')
    .option('--remove', 'remove definitions that are not in the file')
}

/** Makes the changes one by one. Nothing is changed if one of them would need an option that is missing. */
async function push(client: Client, io: CommandIo, plan: Plan, { remove, confirmBreaking, signal }: Run) {
  const workspace = await planOf(client, signal)
  const changes = planChanges(workspace.plan, plan).filter(({ kind }) => remove || kind !== 'remove')
  const breaking = changes.filter((change) => change.kind === 'update' && isBreaking(change))
  if (breaking.length > 0 && !confirmBreaking) {
    io.stderr.write(breaking.map(changeText).join(''))
    const count = countText(breaking.length, 'change is', 'changes are')
    throw new CommandFailure(
      `${count} breaking; nothing was changed. Use --confirm-breaking.`,
      ExitCode.breaking,
    )
  }
  for (const [index, change] of changes.entries()) {
    try {
      const definition_id = workspace.ids.get(change.event_id) ?? ''
      await apply(client, change, { definition_id, signal })
    } catch (error) {
      if (signal.aborted || !(error instanceof CommandFailure || error instanceof UnexpectedResponseError))
        throw error
      const done = `${index} of ${changes.length} changes were made`
      const isRefused = error instanceof CommandFailure && !(error instanceof Unreachable)
      const exitCode = isRefused ? ExitCode.refused : ExitCode.failed
      throw new CommandFailure(`${printable(change.event_id)}: ${causeText(error)}; ${done}`, exitCode)
    }
    io.stdout.write(changeText(change))
  }
  const left = [...workspace.plan.keys()].filter((name) => !plan.has(name))
  if (left.length > 0 && !remove)
    io.stderr.write(
      `${countText(left.length, 'definition is', 'definitions are')} only in the workspace; --remove removes them\n`,
    )
  io.stdout.write(`${countText(changes.length, 'change')}\n`)
}

async function apply(
  client: Client,
  change: PlanChange,
  { definition_id, signal }: { definition_id: string; signal: AbortSignal },
): Promise<void> {
  const path = { definition_id }
  if (change.kind === 'define') {
    const { event_id, to } = change
    const answer = await client.defineEvent({ body: { event_id, ...to }, signal })
    if (answer.error?.code !== 'event_already_defined') dataOf(answer)
    else if (!(await isAsPlanned(client, change, signal)))
      throw new CommandFailure(
        'another definition was created meanwhile. Compare with cairn plan diff, then push again',
      )
  } else if (change.kind === 'update') {
    // Confirmed is what was seen to be breaking, not what somebody else's change since would make so.
    const body = { ...change.to, confirm_breaking: isBreaking(change) }
    dataOf(await client.updateEventDefinition({ path, body, signal }))
  } else {
    const { error } = await client.removeEventDefinition({ path, signal })
    if (error && error.code !== 'definition_not_found') dataOf({ error })
  }
}

/** Whether a definition is as planned already: another push at the same time may be of the same file. */
async function isAsPlanned(
  client: Client,
  { event_id, to }: Extract<PlanChange, { kind: 'define' }>,
  signal: AbortSignal,
): Promise<boolean> {
  const { plan } = await planOf(client, signal)
  return !planChanges(plan, new Map([[event_id, to]])).some((change) => change.event_id === event_id)
}

/** The definitions of the workspace, and their identifiers by event name. */
async function planOf(
  client: Client,
  signal: AbortSignal,
): Promise<{ plan: Plan; ids: ReadonlyMap<string, string> }> {
  const all = await allItems<Schemas['EventDefinition']>((query) =>
    client.listEventDefinitions({ query, signal }),
  )
  const plan = all.map(({ event_id, description, mode, variables }) => {
    return [event_id, { description, mode, variables: variables as DefinedValue }] as const
  })
  return {
    plan: new Map(plan),
    ids: new Map(all.map(({ event_id, definition_id }) => [event_id, definition_id])),
  }
}
