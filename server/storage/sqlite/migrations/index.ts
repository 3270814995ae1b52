import type { Migrations } from '../../migrate.ts'

/** The migrations of SQLite. */
export const migrations: Migrations = {
  '0001-first': () => import('./0001-first.ts'),
  '0002-people': () => import('./0002-people.ts'),
  '0003-runs': () => import('./0003-runs.ts'),
  '0004-lists': () => import('./0004-lists.ts'),
  '0005-customer-words': () => import('./0005-customer-words.ts'),
  '0006-account': () => import('./0006-account.ts'),
  '0007-name-search': () => import('./0007-name-search.ts'),
  '0008-enrolment-numbers': () => import('./0008-enrolment-numbers.ts'),
  '0009-event-counts': () => import('./0009-event-counts.ts'),
  '0010-customers-arrived': () => import('./0010-customers-arrived.ts'),
  '0011-removals': () => import('./0011-removals.ts'),
  '0012-erasures': () => import('./0012-erasures.ts'),
  '0013-journey-removals': () => import('./0013-journey-removals.ts'),
  '0014-erasure-order': () => import('./0014-erasure-order.ts'),
  '0015-retention': () => import('./0015-retention.ts'),
  '0016-event-keys': () => import('./0016-event-keys.ts'),
  '0017-workspace-removals': () => import('./0017-workspace-removals.ts'),
  '0018-kept-ids': () => import('./0018-kept-ids.ts'),
  '0019-protected-customers': () => import('./0019-protected-customers.ts'),
  '0020-event-definitions': () => import('./0020-event-definitions.ts'),
  '0021-definition-violations': () => import('./0021-definition-violations.ts'),
  '0022-webhooks': () => import('./0022-webhooks.ts'),
  '0023-views': () => import('./0023-views.ts'),
  '0024-window-entries': () => import('./0024-window-entries.ts'),
}
