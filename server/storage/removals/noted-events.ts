import type { components } from '../../../generated/contract.ts'
import type { Transaction } from '../database.ts'

/** Adds the number of events to the audit log's entries of a removal, which is known when all are removed. */
export async function noteEvents(
  db: Transaction,
  removed: {
    workspace_id: string
    subject_id: string
    action: components['schemas']['AuditAction']
    events: number
  },
): Promise<void> {
  const { workspace_id, subject_id, action, events } = removed
  const entries = await db
    .selectFrom('audit_log')
    .select(['entry_id', 'after'])
    .where('workspace_id', '=', workspace_id)
    .where('subject_id', '=', subject_id)
    .where('action', '=', action)
    .execute()
  for (const { entry_id, after } of entries) {
    const details: object = JSON.parse(after ?? '{}')
    await db
      .updateTable('audit_log')
      .set({ after: JSON.stringify({ ...details, events }) })
      .where('workspace_id', '=', workspace_id)
      .where('entry_id', '=', entry_id)
      .execute()
  }
}
