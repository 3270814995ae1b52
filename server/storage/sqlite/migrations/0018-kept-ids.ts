/**
 * From now on identifiers of events are stored without their time if it equals the time of receipt, see `kept-ids.ts`.
 * Existing rows stay as they are. This migration keeps out earlier versions of Cairn, which could not read the new
 * rows.
 */
export async function up(): Promise<void> {}
