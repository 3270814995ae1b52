import { pacer } from './pacer.ts'
import { contentRemoval } from './refusal-content.ts'
import type { RefusalRow, RefusalTable } from './refusal-table.ts'
import { isAbout, type Names } from './refused-names.ts'

/** Rows removed at a time. */
export const REMOVED_AT_ONCE = 500

/** Maximum rows read at a time in a search for what is about a customer or a journey. */
const SEARCHED_AT_ONCE = 100

/** Removes everything about a customer or a journey. @returns false if it is still in a log; try again */
export async function removeRefusalsAbout(
  { compiler, run, truncateLog }: RefusalTable,
  workspaceId: string,
  { names, subject }: { names: Names; subject: 'customer_id' | 'journey_id' },
): Promise<boolean> {
  for (let after = ''; ; ) {
    const page = compiler
      .selectFrom('refusals')
      .select([
        'refusal_id',
        'request_id',
        'customer_id',
        'journey_id',
        'event_id',
        'field',
        'faults',
        'sent',
        'sent_bytes',
        'left_out',
      ])
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', '>', after)
      .orderBy('refusal_id')
      .limit(SEARCHED_AT_ONCE)
    const [rows = []] = await run([page.compile()])
    const found: (typeof rows)[number][] = []
    const pause = pacer()
    for (const row of rows) {
      if (isAbout(row, names, subject)) found.push(row)
      await pause(row.sent.length)
    }
    // A row that counts others, which are about somebody else, keeps counting them.
    const [counting, others] = [
      found.filter((row) => row.left_out > 0),
      found.filter((row) => row.left_out === 0),
    ]
    const removal = compiler
      .deleteFrom('refusals')
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', 'in', idsOf(others))
    if (others.length > 0) await run([removal.compile()])
    if (counting.length > 0) await run([contentRemoval(compiler, workspaceId, idsOf(counting))])
    if (rows.length < SEARCHED_AT_ONCE) return await truncateLog()
    after = rows.at(-1)?.refusal_id ?? ''
  }
}

/** Removes all refusals of a workspace. */
export async function removeRefusalsOf(
  { compiler, run }: Pick<RefusalTable, 'compiler' | 'run'>,
  workspaceId: string,
): Promise<void> {
  for (let after = ''; ; ) {
    const ofWorkspace = compiler.selectFrom('refusals').where('workspace_id', '=', workspaceId)
    const next = ofWorkspace
      .select('refusal_id')
      .where('refusal_id', '>', after)
      .orderBy('refusal_id')
      .limit(REMOVED_AT_ONCE)
    const [rows = []] = await run([next.compile()])
    if (rows.length === 0) return
    const removal = compiler
      .deleteFrom('refusals')
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', 'in', idsOf(rows))
    await run([removal.compile()])
    after = rows.at(-1)?.refusal_id ?? ''
  }
}

export function idsOf(rows: readonly Pick<RefusalRow, 'refusal_id'>[]): string[] {
  return rows.map(({ refusal_id }) => refusal_id)
}
