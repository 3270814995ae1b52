import type { components } from '../generated/contract.ts'

export type ProblemCode = components['schemas']['ProblemCode']
export type Fault = components['schemas']['Fault']
type ProblemDetails = components['schemas']['Problem']

/**
 * The table of all problems. Each code has an HTTP status, a `title` that is the same for every occurrence, and a default
 * `detail` that says what to change. The contract lists the same codes.
 */
export const problems = {
  invalid_request: {
    status: 400,
    title: 'The request does not match the contract',
    detail: 'Correct the faults listed in errors.',
  },
  invalid_json: {
    status: 400,
    title: 'The body is not unambiguous JSON',
    detail: 'Correct the JSON at the position given in errors.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not well-formed HTTP',
    detail:
      'Send HTTP/1.1 (RFC 9112): a known method, a target in percent-encoded ASCII, a Host header, and a body with the announced length or chunks.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid credential',
    detail: 'Send a valid service key in the header x-service-key.',
  },
  sign_in_refused: {
    status: 401,
    title: 'Email or password is wrong',
    detail:
      'Check both. If you forgot your password, ask an owner or admin for a link, or an operator of the server. If your invitation gives you no account, ask an operator.',
  },
  secret_key_required: {
    status: 403,
    title: 'This operation needs a secret key',
    detail: 'Send a secret key (sk_…) from a server; a publishable key can only ingest.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'The key does not allow this origin',
    detail: "Use a key that allows the page's origin; cairn key create --origin makes one.",
  },
  session_required: {
    status: 403,
    title: 'This operation needs a signed-in person',
    detail:
      'Use the administration interface at /admin, or the cairn command on the server; keys have no access.',
  },
  role_not_allowed: {
    status: 403,
    title: 'Your role does not allow this',
    detail: 'Ask an owner or an admin of the workspace to do it, or to change your role.',
  },
  workspace_required: {
    status: 403,
    title: 'You belong to several workspaces',
    detail: 'Send the workspace_id in the header x-workspace-id.',
  },
  not_a_member: {
    status: 403,
    title: 'You are not a member of this workspace',
    detail: 'Send one of your workspaces in the header x-workspace-id; GET /session lists them.',
  },
  foreign_origin: {
    status: 403,
    title: 'The request does not come from a page of this server',
    detail:
      'Open the administration interface at the public address of the server; operators set it as CAIRN_PUBLIC_URL.',
  },
  operators_only: {
    status: 403,
    title: 'Only operators can do this on this server',
    detail: 'Ask an operator of the server; cairn init creates a workspace.',
  },
  not_found: {
    status: 404,
    title: 'No such path',
    detail: 'Use /v1 and a path of the contract, exactly as written there; it is served at /v1/openapi.yaml.',
  },
  journey_not_found: {
    status: 404,
    title: 'No such journey',
    detail: 'Use the journey_id of a journey of this workspace.',
  },
  customer_not_found: {
    status: 404,
    title: 'No such customer',
    detail: 'Use the customer_id that initializeCustomer returned in this workspace.',
  },
  customer_erased: {
    status: 410,
    title: 'The customer was erased',
    detail: 'Stop sending data about this customer; requests about erased customers are rejected.',
  },
  link_not_found: {
    status: 404,
    title: 'The link is not valid',
    detail:
      'A link works once and for a limited time. Ask for a new one: owners and admins of the workspace create links, operators run cairn setup-link.',
  },
  member_not_found: {
    status: 404,
    title: 'No such member',
    detail: 'Use the person_id of a member of this workspace.',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    detail: 'Use the session_id of a listed session; others have ended.',
  },
  invitation_not_found: {
    status: 404,
    title: 'No such open invitation',
    detail: 'Use the invitation_id of a listed invitation; others were accepted, revoked or have expired.',
  },
  service_key_not_found: {
    status: 404,
    title: 'No such service key',
    detail: 'Use the key_id of a key of this workspace.',
  },
  refusal_not_found: {
    status: 404,
    title: 'No such rejected request',
    detail:
      'Use the refusal_id of a listed request; requests are kept for some days, and the oldest are removed first.',
  },
  definition_not_found: {
    status: 404,
    title: 'The event definition does not exist',
    detail: 'Check the definition_id. listEventDefinitions returns all definitions of the workspace.',
  },
  view_link_not_found: {
    status: 404,
    title: 'The link does not exist',
    detail: 'Check the link_id. listViewLinks returns all links to a view that have not expired.',
  },
  shared_view_not_found: {
    status: 404,
    title: 'The link is not valid',
    detail: 'Ask for a new link. This one has expired or was revoked, or what it showed was removed.',
  },
  view_not_found: {
    status: 404,
    title: 'The view does not exist',
    detail: 'Check the view_id. listViews returns all views that you can see.',
  },
  webhook_not_found: {
    status: 404,
    title: 'The webhook does not exist',
    detail: 'Check the webhook_id. listWebhooks returns all webhooks of the workspace.',
  },
  delivery_not_found: {
    status: 404,
    title: 'The delivery does not exist',
    detail: 'Check the delivery_id. listWebhookDeliveries returns those of the last 30 days.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not support this method',
    detail: 'Use one of the methods listed in the Allow header.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    detail: 'On a new connection, send the headers within 20 seconds and the whole request within 60.',
  },
  customer_not_in_journey: {
    status: 409,
    title: 'The customer is not enrolled in this journey',
    detail: 'Initialize the customer for this journey first, then send the event again.',
  },
  journey_archived: {
    status: 409,
    title: 'The journey is archived',
    detail: 'Restore the journey (or its archived workspace), or use an active one.',
  },
  journey_active: {
    status: 409,
    title: 'The journey is active',
    detail: 'Archive the journey first.',
  },
  workspace_active: {
    status: 409,
    title: 'The workspace is active',
    detail: 'Archive the workspace first.',
  },
  name_differs: {
    status: 409,
    title: 'The name does not match',
    detail: 'Send its current name to confirm that this is the one to remove.',
  },
  message_id_conflict: {
    status: 409,
    title: 'This message_id was used with different content',
    detail: 'Send a new event with a new message_id, and resend an old one unchanged.',
  },
  occurred_at_in_future: {
    status: 409,
    title: 'occurred_at is in the future',
    detail: "Correct the sender's clock; occurred_at may be at most one hour ahead of the server's.",
  },
  unknown_event: {
    status: 409,
    title: 'The event has no definition',
    detail: 'Correct the name, or define the event. The workspace rejects events without a definition.',
  },
  event_not_as_defined: {
    status: 409,
    title: 'The event does not conform to its definition',
    detail: 'Correct what is listed in errors, or change the definition of the event.',
  },
  step_not_unique: {
    status: 409,
    title: 'Two steps have the same event_id',
    detail: 'Give each step a different event_id.',
  },
  event_already_defined: {
    status: 409,
    title: 'The event is already defined',
    detail: 'Change its definition with updateEventDefinition. listEventDefinitions returns it by event_id.',
  },
  invalid_definition: {
    status: 409,
    title: 'The definition contradicts itself or is too large',
    detail: 'Change what errors says.',
  },
  breaking_definition: {
    status: 409,
    title: 'The change is breaking',
    detail: 'Read errors, and send confirm_breaking with true if you want it.',
  },
  definition_limit: {
    status: 409,
    title: 'The workspace has too many event definitions',
    detail:
      'Remove definitions that are not used. A workspace has at most 1000 of them, with 4 MiB, and 1000 revisions of each.',
  },
  webhook_url_not_allowed: {
    status: 409,
    title: 'The URL is not allowed',
    detail:
      'Send an https URL whose host has only public addresses. The operator can allow networks with CAIRN_WEBHOOK_ALLOW.',
  },
  dropped_after_missing: {
    status: 409,
    title: 'journey.dropped needs a window',
    detail:
      'Send dropped_after, the time after entering a journey within which a customer should complete it.',
  },
  view_limit: {
    status: 409,
    title: 'There are too many views',
    detail:
      'Remove views that are not used. A workspace has at most 100 views, and each member at most 100 of their own.',
  },
  view_links_off: {
    status: 409,
    title: 'Links to views are turned off',
    detail: 'Ask an owner to turn on view_links in the workspace.',
  },
  view_not_shared: {
    status: 409,
    title: 'The view is visible to one person alone',
    detail: 'Give the view to the workspace first, with updateView.',
  },
  view_link_limit: {
    status: 409,
    title: 'The view has too many links',
    detail: 'Revoke links that are not needed. A view has at most 20.',
  },
  webhook_limit: {
    status: 409,
    title: 'The workspace has too many webhooks',
    detail: 'Remove webhooks that are not used. A workspace has at most 20.',
  },
  encryption_key_missing: {
    status: 409,
    title: 'The server has no key to encrypt secrets',
    detail: 'Ask the operator to set CAIRN_ENCRYPTION_KEY, the same on every server of this store.',
  },
  event_removed: {
    status: 409,
    title: 'The event was removed',
    detail: 'Its content was removed by retention or an erasure, so it cannot be sent again.',
  },
  window_missing: {
    status: 409,
    title: 'This filter needs a window',
    detail: 'Send window, the time after the first step within which a step counts.',
  },
  breakdown_too_large: {
    status: 409,
    title: 'There is too much to break down',
    detail:
      'Ask again, which goes on from what has been read, or for a shorter period or a variable with fewer values.',
  },
  strict_order_too_large: {
    status: 409,
    title: 'There are too many events to put in strict order',
    detail: 'Ask for a shorter period, a window or a smaller part of the journey.',
  },
  compared_period_missing: {
    status: 409,
    title: 'There is no period to compare with',
    detail: 'Send entered_from and entered_to, or compare=custom with compare_from and compare_to.',
  },
  too_many_periods: {
    status: 409,
    title: 'The span has too many periods',
    detail: 'Ask for a shorter span, or for longer periods.',
  },
  time_zone_unknown: {
    status: 409,
    title: 'No such time zone',
    detail: 'Use a name of the IANA time zone database, for example Europe/Berlin.',
  },
  person_exists: {
    status: 409,
    title: 'An account with this email already exists',
    detail: 'Use another email. An operator can add the existing account with cairn member add --existing.',
  },
  workspace_exists: {
    status: 409,
    title: 'A workspace with this name already exists',
    detail: 'Use another name; names of workspaces are unique on a server.',
  },
  too_many_workspaces: {
    status: 409,
    title: 'You have reached the limit of workspaces per person',
    detail: 'Use, rename or remove one of yours, or ask an operator of the server; cairn init has no limit.',
  },
  workspace_name_required: {
    status: 409,
    title: 'The new workspace needs a name',
    detail: 'Send workspace_name.',
  },
  password_wrong: {
    status: 409,
    title: 'The current password is wrong',
    detail: 'Send your current password as current_password.',
  },
  last_owner: {
    status: 409,
    title: 'The workspace would be left without an owner',
    detail: 'Make another member an owner first.',
  },
  already_member: {
    status: 409,
    title: 'The person is already a member',
    detail: 'Change the role of the member instead.',
  },
  invitation_for_another: {
    status: 409,
    title: 'The invitation is for another email',
    detail: 'Sign in with the account of the email that was invited.',
  },
  own_password: {
    status: 409,
    title: 'You cannot create a link for your own password',
    detail: 'Change it in your account. If you forgot it, ask another owner or admin, or an operator.',
  },
  member_elsewhere: {
    status: 409,
    title: 'The member also belongs to workspaces that you do not manage',
    detail: 'Ask an operator of the server; cairn member set-password sets a new password.',
  },
  service_key_revoked: {
    status: 409,
    title: 'The key has been revoked or has expired',
    detail: 'Create a new key.',
  },
  origins_for_secret_key: {
    status: 409,
    title: 'A secret key cannot have allowed origins',
    detail:
      'Leave allowed_origins out, or create a publishable key; a secret key must never reach a browser.',
  },
  expires_at_in_past: {
    status: 409,
    title: 'expires_at is in the past',
    detail: 'Send a later instant, or null for no expiry. To end a key now, revoke it.',
  },
  rate_limit_too_high: {
    status: 409,
    title: 'The rate limit is higher than members can set',
    detail: 'Send a lower rate_limit, or ask an operator: cairn key create --rate-limit sets any rate.',
  },
  event_too_large: {
    status: 413,
    title: 'The event is too large',
    detail: 'Make the event smaller; its JSON, without insignificant whitespace, can have up to 65536 bytes.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail:
      'Send less per request. The contract has the limit of each operation; it applies after decompression.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not in a supported format',
    detail:
      'Send the body as JSON in UTF-8 with the header content-type: application/json, plain or gzipped (content-encoding: gzip, not transfer-encoding).',
  },
  expectation_failed: {
    status: 417,
    title: 'The Expect header is not supported',
    detail: 'Leave the Expect header out, or send Expect: 100-continue.',
  },
  rate_limited: {
    status: 429,
    title: 'The rate limit is exceeded',
    detail: 'Retry after the number of seconds in Retry-After.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    detail: 'Retry after the number of seconds in Retry-After.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    detail: 'Send fewer than 16384 bytes in the target and the headers together, cookies included.',
  },
  internal_error: {
    status: 500,
    title: 'Internal server error',
    detail: 'The request is not at fault. Give the operator the request_id; the log has the cause.',
  },
  overloaded: {
    status: 503,
    title: 'The server is overloaded',
    detail: 'Nothing was stored. Retry after the number of seconds in Retry-After.',
  },
  storage_unavailable: {
    status: 503,
    title: 'The storage is unavailable',
    detail: 'Nothing was acknowledged. Retry after the number of seconds in Retry-After.',
  },
  storage_full: {
    status: 503,
    title: 'The disk is full',
    detail: 'Nothing was acknowledged. Retry later; the operator must free space on the disk.',
  },
  shutting_down: {
    status: 503,
    title: 'The server is stopping',
    detail: 'Nothing was stored. Retry after the number of seconds in Retry-After.',
  },
} as const satisfies Record<ProblemCode, { status: number; title: string; detail: string }>

/**
 * Maximum faults in a response (contract: `Problem.errors`), and maximum length of their pointers together: a hundred
 * pointers that contain the same very long name would take 200 KB. Checks stop when there are more faults.
 */
export const LISTED_FAULTS = 100
const LISTED_LENGTH = 20_000

/** The faults that a response lists. */
function listedFaults(faults: readonly Fault[]): readonly Fault[] {
  let length = 0
  const end = faults.findIndex(({ pointer = '' }, index) => {
    length += pointer.length
    return index === LISTED_FAULTS || length > LISTED_LENGTH
  })
  return end === -1 ? faults : faults.slice(0, end)
}

/** Whether there are more faults than a response lists, so that a check can stop. */
export function areEnough(faults: readonly Fault[]): boolean {
  return listedFaults(faults).length < faults.length
}

export type ProblemOptions = {
  /** What to change in this case; by default the text in the table. It never contains anything that the caller sent. */
  detail?: string
  /** The faults of a request that is rejected with 400, or the reasons of another rejection that has several. */
  faults?: readonly Fault[]
  /** Headers of the response, for example `Allow`. */
  headers?: Readonly<Record<string, string>>
  /** Only for the log. */
  cause?: unknown
  /** The code under which the request is kept (`listRefusals`), if it differs from the one that the sender gets. */
  keptAs?: ProblemCode
}

/** An error that becomes the response, wherever it is thrown while a request is handled. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly detail: string
  readonly faults: readonly Fault[]
  readonly headers: Readonly<Record<string, string>>
  readonly keptAs: ProblemCode

  constructor(
    code: ProblemCode,
    { detail, faults = [], headers = {}, cause, keptAs = code }: ProblemOptions = {},
  ) {
    // Its stack says nothing that the code does not, and capturing it takes 4 µs, an eighth of a rejection's time.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(code, { cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Problem'
    this.code = code
    this.status = problems[code].status
    this.detail = detail ?? problems[code].detail
    this.faults = faults
    this.keptAs = keptAs
    this.headers = this.status === 503 ? { 'Retry-After': '1', ...headers } : headers
  }

  /** The body of the response (RFC 9457). */
  details(requestId: string): ProblemDetails {
    const { code, status, detail, faults } = this
    const errors = listedFaults(faults)
    const omitted = faults.length - errors.length
    return {
      type: `/docs/problems#${code}`,
      title: problems[code].title,
      status,
      detail,
      code,
      request_id: requestId,
      ...(errors.length > 0 && { errors: [...errors] }),
      ...(omitted > 0 && { errors_omitted: omitted }),
    }
  }
}
