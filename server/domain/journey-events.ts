import type { DefinedValue } from './event-definitions.ts'

/** What a workspace has defined of an event (contract: `EventDefinition`). */
export type DefinedEvent = { event_id: string; description: string; variables: DefinedValue }

/** An event of a journey. One that is not defined has any variables. */
export type JourneyEvent = { event_id: string } & Partial<DefinedEvent>

/** Returns the events of a journey's contract: its steps and all that is defined, by `event_id` in the order of code points. */
export function journeyEvents(
  steps: readonly { event_id: string }[],
  definitions: readonly DefinedEvent[],
): JourneyEvent[] {
  const events = new Map<string, JourneyEvent>()
  for (const { event_id } of steps) events.set(event_id, { event_id })
  for (const { event_id, description, variables } of definitions) {
    events.set(event_id, { event_id, description, variables })
  }
  // The order of UTF-8 is that of code points; `<` compares UTF-16.
  return [...events.values()].sort((a, b) => Buffer.compare(Buffer.from(a.event_id), Buffer.from(b.event_id)))
}
