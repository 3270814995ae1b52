import Database from 'better-sqlite3'
import { messageKeys, type StoredMessageId } from '../../../server/domain/message-ids.ts'
import { nameHashes } from '../../../server/domain/name-hashes.ts'
import { postingKeys } from '../../../server/storage/sqlite/index/posting-keys.ts'
import { PostingReader } from '../../../server/storage/sqlite/index/postings.ts'
import { RunStore } from '../../../server/storage/sqlite/index/run-store.ts'
import { TimelineReader } from '../../../server/storage/sqlite/index/timeline.ts'

type StoredEvent = {
  seq: number
  workspace_ref: number
  journey_ref: number
  customer_ref: number
  event_id: string
  at_ms: number
  message_id: StoredMessageId | null
  workspace_id: string
}

/** Returns the entries in the sorted runs of a file as texts, sorted. */
export function entriesInRuns(file: Database.Database): string[] {
  const store = new RunStore(file)
  const entries: string[] = []
  for (const run of store.all()) {
    const filter = store.readFilter(run)
    for (const [page, first] of run.postings.firsts.entries()) {
      const reader = new PostingReader(store.readPage(run, 'postings', page), run, first)
      while (reader.nextKey()) {
        for (let seq = reader.nextSeq(); seq !== -1; seq = reader.nextSeq()) {
          entries.push(`${reader.key} ${seq}`)
          if (reader.key < postingKeys.customer(0) && !filter.mayHave(reader.key))
            entries.push(`unfiltered ${seq}`)
        }
      }
    }
    for (const [page, customer] of run.timeline.firsts.entries()) {
      const at_ms = run.timeline.seconds[page] ?? Number.NaN
      const reader = new TimelineReader(store.readPage(run, 'timeline', page), run, { customer, at_ms })
      while (reader.next()) entries.push(`of ${reader.customer} at ${reader.at_ms}: ${reader.seq}`)
    }
  }
  return entries.sort()
}

/** Returns the entries that the sorted runs must contain, computed from the events. */
export function entriesOfEvents(file: Database.Database): string[] {
  const { message_salt } = file.prepare('SELECT message_salt FROM event_indexing').get() as {
    message_salt: string
  }
  const name = nameHashes(message_salt)
  const events = file
    .prepare<[], StoredEvent>(
      `SELECT seq, events.workspace_ref, journey_ref, customer_ref, event_id, message_id, workspace_id,
        coalesce(occurred_ms, received_ms) AS at_ms
      FROM events JOIN workspaces USING (workspace_ref) WHERE seq <= (SELECT indexed_seq FROM event_indexing)`,
    )
    .all()
  return events
    .flatMap(
      ({ seq, workspace_ref, journey_ref, customer_ref, event_id, at_ms, message_id, workspace_id }) => [
        `of ${customer_ref} at ${at_ms}: ${seq}`,
        ...[
          postingKeys.customer(customer_ref),
          postingKeys.workspace(workspace_ref),
          postingKeys.journey(journey_ref),
          postingKeys.name(workspace_ref, name(event_id)),
          postingKeys.journeyName(journey_ref, name(event_id)),
          ...(message_id === null
            ? []
            : [postingKeys.message(messageKeys(message_salt, workspace_id)(message_id))]),
        ].map((key) => `${key} ${seq}`),
      ],
    )
    .sort()
}

function without(entries: string[], others: string[]): string[] {
  const known = new Set(others)
  return entries.filter((entry) => !known.has(entry))
}

/** Returns the differences between the indexes of the file and a scan of its events. */
export function indexFaults(path: string): unknown[] {
  const file = new Database(path, { readonly: true })
  const found = entriesInRuns(file)
  const expected = entriesOfEvents(file)
  const faults: unknown[] = [...without(found, expected), ...without(expected, found)]
  if (found.length !== expected.length) faults.push(`${found.length} entries instead of ${expected.length}`)
  const spans = (events: number) =>
    `SELECT seq / ${events}, min(received_ms), max(received_ms) FROM events GROUP BY 1`
  for (const query of [
    `${spans(1024)} EXCEPT SELECT span, least_received_ms, greatest_received_ms FROM event_spans`,
    `${spans(2 ** 20)} EXCEPT SELECT * FROM event_stretches`,
  ]) {
    faults.push(...file.prepare(query).all())
  }
  faults.push(...(file.pragma('integrity_check') as { integrity_check: string }[]))
  file.close()
  return faults
}
