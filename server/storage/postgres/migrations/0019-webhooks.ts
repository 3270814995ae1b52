import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/** URLs that are told what happens, and the messages to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const [table, statement] of tables) {
    await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  for (const index of indexes) await sql.raw(index).execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, statement: string])[] = [
  [
    'webhooks',
    `CREATE TABLE webhooks (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      webhook_id ${text} NOT NULL,
      url ${text} NOT NULL,
      description ${text} NOT NULL,
      types ${text} NOT NULL, -- JSON
      journey_ids ${text}, -- JSON; NULL: all
      event_ids ${text}, -- JSON; NULL: all
      dropped_after ${text}, -- ISO 8601
      is_enabled integer NOT NULL CHECK (is_enabled IN (0, 1)),
      disabled_reason ${text} CHECK (disabled_reason IN ('by_hand', 'failing', 'gone')),
      secret ${text} NOT NULL, -- encrypted
      previous_secret ${text}, -- encrypted; signs too until its time
      previous_until_ms bigint,
      created_ms bigint NOT NULL,
      updated_ms bigint NOT NULL,
      -- Of the server that sends: events and customers are read after the cursors, and none before from_ms.
      from_ms bigint NOT NULL,
      replay_ms bigint, -- what was received before is told again
      event_cursor ${text},
      customer_cursor ${text},
      journey_cursor ${text},
      entered_ms bigint NOT NULL, -- who has entered a journey before has been looked at
      told_ms bigint NOT NULL, -- everything received before has been read
      failures integer NOT NULL DEFAULT 0, -- in a row
      failing_since_ms bigint,
      success_ms bigint,
      retry_ms bigint, -- until when everything waits
      lease_owner ${text},
      lease_until_ms bigint,
      PRIMARY KEY (workspace_id, webhook_id)
    ) WITH (fillfactor = 50)`,
  ],
  [
    'webhook_deliveries',
    `CREATE TABLE webhook_deliveries (
      workspace_id ${text} NOT NULL,
      webhook_id ${text} NOT NULL,
      delivery_id ${text} NOT NULL,
      type ${text} NOT NULL,
      subject ${text} NOT NULL, -- what it is about, for example an event
      customer_id ${text},
      journey_id ${text},
      message ${text}, -- JSON; NULL: made from the subject when it is sent
      created_ms bigint NOT NULL,
      status ${text} NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
      attempts integer NOT NULL DEFAULT 0,
      next_ms bigint, -- NULL unless it is pending
      attempt_ms bigint,
      status_code integer,
      error ${text},
      duration_ms integer,
      response ${text},
      PRIMARY KEY (workspace_id, webhook_id, delivery_id),
      FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks (workspace_id, webhook_id)
    )`,
  ],

  // When the time is over that a customer has for a journey.
  [
    'webhook_windows',
    `CREATE TABLE webhook_windows (
      workspace_id ${text} NOT NULL,
      customer_id ${text} NOT NULL,
      webhook_id ${text} NOT NULL,
      journey_id ${text} NOT NULL,
      closes_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, customer_id, webhook_id, journey_id),
      FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks (workspace_id, webhook_id)
    )`,
  ],
]

const indexes = [
  'CREATE INDEX webhook_windows_by_end ON webhook_windows (workspace_id, webhook_id, closes_ms)',
  `CREATE INDEX webhook_deliveries_by_creation
    ON webhook_deliveries (workspace_id, webhook_id, created_ms, delivery_id)`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (workspace_id, webhook_id, next_ms, attempts)
    WHERE next_ms IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_by_customer ON webhook_deliveries (workspace_id, customer_id)
    WHERE customer_id IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_by_journey ON webhook_deliveries (workspace_id, journey_id)
    WHERE journey_id IS NOT NULL`,
]
