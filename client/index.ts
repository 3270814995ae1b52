export { type Client, type ClientOptions, createClient } from './client.ts'
export type { AnyEvents, EventCreation } from './events.ts'
export {
  type OperationId,
  type OperationRequest,
  type OperationResult,
  type Problem,
  type Schemas,
  UnexpectedResponseError,
} from './operation-calls.ts'
export {
  createTracker,
  QueueFullError,
  type TrackedEvent,
  type Tracker,
  TrackerClosedError,
  type TrackerOptions,
  type TrackOptions,
} from './tracker.ts'
