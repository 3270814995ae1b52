import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import { DAY_MS } from '../domain/durations.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { readViolations } from '../storage/tables/definition-violations.ts'
import { findDefinition } from '../storage/tables/event-definitions.ts'
import { firstDay } from './violation-tally.ts'

type Kind = components['schemas']['DefinitionViolationKind']

export const listDefinitionViolations: Operation<'listDefinitionViolations'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const { definition_id } = path
  if (!(await findDefinition(context.storage.db, workspaceId, definition_id))) {
    throw new Problem('definition_not_found')
  }
  await context.violationTally.written()
  const { days: count = 30 } = query
  const now_ms = context.now()
  const from_ms = firstDay(now_ms, count)
  const db = context.storage.lists(context.reading)
  const found = await readViolations(db, workspaceId, definition_id, { from_ms, now_ms })
  const days = Array.from({ length: count }, (_, index) => {
    const day_ms = from_ms + index * DAY_MS
    const eventsOf = (isRejected: number) =>
      found.days.find(({ day_ms: ms, rejected }) => ms === day_ms && rejected === isRejected)?.events ?? 0
    return { day: instantText(day_ms), stored: eventsOf(0), rejected: eventsOf(1) }
  })
  const kinds = found.kinds.map(
    ({ code, key_id, rejected, first_ms, last_ms, ...kind }): Kind => ({
      ...kind,
      code: code as Kind['code'],
      key_id: key_id || null,
      outcome: rejected ? 'rejected' : 'stored',
      first_at: instantText(first_ms),
      last_at: instantText(last_ms),
    }),
  )
  const [stored, rejected] = (['stored', 'rejected'] as const).map((outcome) =>
    days.reduce((sum, day) => sum + day[outcome], 0),
  ) as [number, number]
  return { status: 200, body: { definition_id, stored, rejected, days, kinds } }
}
