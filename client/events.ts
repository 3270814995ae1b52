import type { Schemas } from './operation-calls.ts'

/** Any event names with any variables: what a client takes without the types of a journey. */
export type AnyEvents = { [event_id: string]: Schemas['CustomVariables'] }

/** The names of the events. */
export type EventName<Events extends object> = keyof Events & string

/** An event to store: one of `Events`, with its own variables. */
export type EventCreation<Events extends object> = {
  [Name in EventName<Events>]: Omit<Schemas['EventCreation'], 'event_id' | 'custom_variables'> & {
    event_id: Name
  } & WithVariables<Events[Name]>
}[EventName<Events>]

/** Required if the event has required variables. */
type WithVariables<Variables> =
  Record<never, never> extends Variables ? { custom_variables?: Variables } : { custom_variables: Variables }

/** The arguments of `track` after the name. */
export type TrackArguments<Variables, Options> =
  Record<never, never> extends Variables
    ? [custom_variables?: Variables | undefined, options?: Options | undefined]
    : [custom_variables: Variables, options?: Options | undefined]
