import { type Kysely, sql } from 'kysely'

/** URLs that are told what happens, and the messages to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `CREATE TABLE webhooks (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    webhook_id TEXT NOT NULL,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    types TEXT NOT NULL, -- JSON
    journey_ids TEXT, -- JSON; NULL: all
    event_ids TEXT, -- JSON; NULL: all
    dropped_after TEXT, -- ISO 8601
    is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
    disabled_reason TEXT CHECK (disabled_reason IN ('by_hand', 'failing', 'gone')),
    secret TEXT NOT NULL, -- encrypted
    previous_secret TEXT, -- encrypted; signs too until its time
    previous_until_ms INTEGER,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    -- Of the server that sends: events and customers are read after the cursors, and none before from_ms.
    from_ms INTEGER NOT NULL,
    replay_ms INTEGER, -- what was received before is told again
    event_cursor TEXT,
    customer_cursor TEXT,
    journey_cursor TEXT,
    entered_ms INTEGER NOT NULL, -- who has entered a journey before has been looked at
    told_ms INTEGER NOT NULL, -- everything received before has been read
    failures INTEGER NOT NULL DEFAULT 0, -- in a row
    failing_since_ms INTEGER,
    success_ms INTEGER,
    retry_ms INTEGER, -- until when everything waits
    lease_owner TEXT,
    lease_until_ms INTEGER,
    PRIMARY KEY (workspace_id, webhook_id)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE webhook_deliveries (
    workspace_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    type TEXT NOT NULL,
    subject TEXT NOT NULL, -- what it is about, for example an event
    customer_id TEXT,
    journey_id TEXT,
    message TEXT, -- JSON; NULL: made from the subject when it is sent
    created_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER, -- NULL unless it is pending
    attempt_ms INTEGER,
    status_code INTEGER,
    error TEXT,
    duration_ms INTEGER,
    response TEXT,
    PRIMARY KEY (workspace_id, webhook_id, delivery_id),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks
  ) STRICT, WITHOUT ROWID`,
  // When the time is over that a customer has for a journey.
  `CREATE TABLE webhook_windows (
    workspace_id TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    journey_id TEXT NOT NULL,
    closes_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, customer_id, webhook_id, journey_id),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks
  ) STRICT, WITHOUT ROWID`,
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
