export {
  type Client,
  type ClientOptions,
  createClient,
  type OperationId,
  type OperationRequest,
  type OperationResult,
  type Problem,
  type Schemas,
  UnexpectedResponseError,
} from './client.ts'
export {
  createTracker,
  QueueFullError,
  type TrackedEvent,
  type Tracker,
  TrackerClosedError,
  type TrackerOptions,
  type TrackOptions,
} from './tracker.ts'
