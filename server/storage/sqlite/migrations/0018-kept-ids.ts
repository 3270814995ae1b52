/**
 * From here on identifiers of events are written without their time where that is the time of receipt, see `kept-ids.ts`. What
 * was stored before stays as it is; a Cairn of before would not find its way in what is stored now, and is kept out.
 */
export async function up(): Promise<void> {}
