import type { Migrations } from '../../migrate.ts'

/** The migrations of PostgreSQL. */
export const migrations: Migrations = {
  '0001-first': () => import('./0001-first.ts'),
  '0002-event-counts': () => import('./0002-event-counts.ts'),
  '0003-standings': () => import('./0003-standings.ts'),
  '0004-arrival-order': () => import('./0004-arrival-order.ts'),
  '0005-refusals': () => import('./0005-refusals.ts'),
  '0006-refused-fields': () => import('./0006-refused-fields.ts'),
  '0007-removals': () => import('./0007-removals.ts'),
  '0008-erasures': () => import('./0008-erasures.ts'),
  '0009-journey-removals': () => import('./0009-journey-removals.ts'),
  '0010-erasure-order': () => import('./0010-erasure-order.ts'),
  '0011-retention': () => import('./0011-retention.ts'),
  '0012-event-keys': () => import('./0012-event-keys.ts'),
  '0013-workspace-removals': () => import('./0013-workspace-removals.ts'),
  '0014-taken-arrivals': () => import('./0014-taken-arrivals.ts'),
  '0015-protected-customers': () => import('./0015-protected-customers.ts'),
  '0016-partition-functions': () => import('./0016-partition-functions.ts'),
  '0017-event-definitions': () => import('./0017-event-definitions.ts'),
  '0018-definition-violations': () => import('./0018-definition-violations.ts'),
  '0019-webhooks': () => import('./0019-webhooks.ts'),
  '0020-views': () => import('./0020-views.ts'),
  '0021-partition-drop': () => import('./0021-partition-drop.ts'),
  '0022-erasure-check': () => import('./0022-erasure-check.ts'),
  '0023-window-entries': () => import('./0023-window-entries.ts'),
}
