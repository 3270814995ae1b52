import type { components } from '../generated/contract.ts'

export type ProblemCode = components['schemas']['ProblemCode']
export type Fault = components['schemas']['Fault']
type ProblemDetails = components['schemas']['Problem']

/**
 * The one table of problems: the HTTP status, what the code means (the same every time) and, as `detail`, what to
 * change where the occurrence has nothing more exact to say. The contract lists the same codes.
 */
export const problems = {
  invalid_request: {
    status: 400,
    title: 'The request does not match the contract',
    detail: 'Correct what errors lists.',
  },
  invalid_json: {
    status: 400,
    title: 'The body is not JSON that every reader understands alike',
    detail: 'Correct the JSON where errors says.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not well-formed HTTP',
    detail:
      'Send HTTP/1.1 as RFC 9112 has it: a method that exists, a target in ASCII with all else percent-encoded, a Host, and a body of the length or the chunks that the headers announce.',
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
      'Check both. Who has forgotten the password asks an owner or admin for a link, or an operator of the server; who gets no account by an invitation asks an operator.',
  },
  secret_key_required: {
    status: 403,
    title: 'This operation needs a secret key',
    detail: 'Send a secret key (sk_…), from a server; a publishable key opens only ingestion.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'The key does not allow this origin',
    detail: "Use a key that allows the page's origin; cairn key create --origin makes one.",
  },
  session_required: {
    status: 403,
    title: 'This operation needs somebody who is signed in',
    detail:
      'Use the administration interface at /admin, or the cairn command on the server; a key does not open this.',
  },
  role_not_allowed: {
    status: 403,
    title: 'Your role does not allow this',
    detail: 'Ask an owner or an admin of the workspace to do it, or to change your role.',
  },
  workspace_required: {
    status: 403,
    title: 'You have several workspaces',
    detail: 'Name the one you mean in the header x-workspace-id.',
  },
  not_a_member: {
    status: 403,
    title: 'You are no member of this workspace',
    detail: 'Name a workspace of yours in the header x-workspace-id; GET /session lists them.',
  },
  foreign_origin: {
    status: 403,
    title: 'The request does not come from a page of this server',
    detail:
      'Open the administration interface at the address that the server is known by; operators set it as CAIRN_PUBLIC_URL.',
  },
  operators_only: {
    status: 403,
    title: 'Only operators do this here',
    detail: 'Ask an operator of the server; cairn init makes a workspace.',
  },
  not_found: {
    status: 404,
    title: 'No such path',
    detail: 'Use a path of the contract, exactly as written there; it is served at /v1/openapi.yaml.',
  },
  journey_not_found: {
    status: 404,
    title: 'No such journey',
    detail: 'Use the journey_id of a journey of this workspace.',
  },
  customer_not_found: {
    status: 404,
    title: 'No such customer',
    detail: 'Use the customer_id that initializing the customer answered in this workspace.',
  },
  customer_erased: {
    status: 410,
    title: 'The customer was erased',
    detail: 'Send nothing about this customer any more; nothing is taken for whoever was erased.',
  },
  link_not_found: {
    status: 404,
    title: 'The link does not work (any more)',
    detail:
      'A link works once and for a limited time. Ask for a new one: owners and admins of the workspace make links, operators with cairn setup-link.',
  },
  member_not_found: {
    status: 404,
    title: 'No such member',
    detail: 'Use the person_id of a member of this workspace.',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    detail: 'Use the session_id of a session that is listed; others have ended.',
  },
  invitation_not_found: {
    status: 404,
    title: 'No such open invitation',
    detail:
      'Use the invitation_id of an invitation that is listed; others were accepted, revoked or have expired.',
  },
  service_key_not_found: {
    status: 404,
    title: 'No such service key',
    detail: 'Use the key_id of a key of this workspace.',
  },
  refusal_not_found: {
    status: 404,
    title: 'No such refusal',
    detail:
      'Use the refusal_id of a refusal that is listed; they are kept for some days, and the oldest go first.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not have this method',
    detail: 'Use one of the methods that the header Allow lists.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    detail: 'Send the head of a request within 20 seconds and all of it within 60, on a new connection.',
  },
  customer_not_in_journey: {
    status: 409,
    title: 'The customer does not take part in this journey',
    detail: 'Initialize the customer for this journey first, then send the event again.',
  },
  journey_archived: {
    status: 409,
    title: 'The journey is archived',
    detail: 'Restore the journey, or the workspace that is archived, or use an active one.',
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
    title: 'It is called otherwise',
    detail: 'Send as name what it is called now, so that nothing else is removed than you mean.',
  },
  message_id_conflict: {
    status: 409,
    title: 'This message_id was used for other content',
    detail: 'Send a new event under a new message_id; resend an old one unchanged.',
  },
  occurred_at_in_future: {
    status: 409,
    title: 'occurred_at lies in the future',
    detail: "Correct the sender's clock; occurred_at may be at most one hour ahead of the server's.",
  },
  step_not_unique: {
    status: 409,
    title: 'Two steps have the same event_id',
    detail: 'Give every step an event_id of its own.',
  },
  window_missing: {
    status: 409,
    title: 'The standing needs a window',
    detail: 'Say in window how long after the first step a step still counts.',
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
    title: 'There is an account for this email',
    detail:
      'Use another email. Who has an account is added by an operator, with cairn member add --existing.',
  },
  workspace_exists: {
    status: 409,
    title: 'There is such a workspace already',
    detail: 'Use another name; no two workspaces of a server have the same.',
  },
  too_many_workspaces: {
    status: 409,
    title: 'You have made as many workspaces as a person may',
    detail:
      'Use, rename or remove one that you have, or ask an operator of the server; cairn init makes any number.',
  },
  workspace_name_required: {
    status: 409,
    title: 'The new workspace needs a name',
    detail: 'Send workspace_name.',
  },
  password_wrong: {
    status: 409,
    title: 'The current password is wrong',
    detail: 'Type the password that you sign in with now as current_password.',
  },
  last_owner: {
    status: 409,
    title: 'The workspace would have no owner',
    detail: 'Make another member an owner first.',
  },
  already_member: {
    status: 409,
    title: 'The person is a member already',
    detail: 'Change the role of the member instead.',
  },
  invitation_for_another: {
    status: 409,
    title: 'The invitation is for another email',
    detail: 'Sign in with the account of the email that was invited.',
  },
  own_password: {
    status: 409,
    title: 'Nobody makes a link for their own password',
    detail:
      'Change your password with the one that you have. Who has forgotten it asks another owner or admin, or an operator.',
  },
  member_elsewhere: {
    status: 409,
    title: 'The member has workspaces in which you do not decide about it',
    detail: 'Ask an operator of the server; cairn member set-password gives a new password.',
  },
  service_key_revoked: {
    status: 409,
    title: 'The key works no more',
    detail: 'Create a new key.',
  },
  origins_for_secret_key: {
    status: 409,
    title: 'A secret key has no allowed origins',
    detail: 'Leave allowed_origins out, or make a publishable key; browsers never hold a secret one.',
  },
  expires_at_in_past: {
    status: 409,
    title: 'expires_at has passed',
    detail: 'Give a later instant, or null for no expiry; to end a key now, revoke it.',
  },
  rate_limit_too_high: {
    status: 409,
    title: 'The rate is higher than members may give',
    detail: 'Give a lower rate_limit, or ask an operator: cairn key create --rate-limit gives any.',
  },
  event_too_large: {
    status: 413,
    title: 'The event is too large',
    detail: 'Make the event smaller; its JSON, without insignificant spaces, may take 65536 bytes.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'Send less at once; the contract gives the limit of each operation, counted after inflating.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not in a supported format',
    detail:
      'Send the body as JSON in UTF-8 with the header content-type: application/json, plain or gzipped (content-encoding: gzip).',
  },
  expectation_failed: {
    status: 417,
    title: 'The expectation cannot be met',
    detail: 'Leave the header Expect out, or send Expect: 100-continue.',
  },
  rate_limited: {
    status: 429,
    title: 'The rate is used up',
    detail: 'Send the same request again after the seconds that Retry-After gives.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    detail: 'Wait the seconds that Retry-After gives, then try again.',
  },
  headers_too_large: {
    status: 431,
    title: 'The head of the request is too large',
    detail:
      'Send less in the target and in the headers, cookies among them: fewer than 16384 bytes, all together.',
  },
  internal_error: {
    status: 500,
    title: 'The server has a fault',
    detail: 'Nothing to change in the request. Tell the operator the request_id; the log has the cause.',
  },
  overloaded: {
    status: 503,
    title: 'The server has more to do than it can take',
    detail: 'Nothing was taken. Send the same request again after the seconds that Retry-After gives.',
  },
  storage_unavailable: {
    status: 503,
    title: 'The storage is not available',
    detail: 'Nothing was acknowledged. Send the same request again after the seconds that Retry-After gives.',
  },
  storage_full: {
    status: 503,
    title: 'The disk is full',
    detail:
      'Nothing was acknowledged. Send the same request again later; the operator must make room on the disk.',
  },
  shutting_down: {
    status: 503,
    title: 'The server is stopping',
    detail: 'Nothing was taken. Send the same request again after the seconds that Retry-After gives.',
  },
} as const satisfies Record<ProblemCode, { status: number; title: string; detail: string }>

/**
 * A reply lists at most this many faults (contract: `Problem.errors`), and fewer where the pointers are longer together:
 * those of a hundred faults under one endless name would take 200 KB. Who looks for faults stops when there are more.
 */
export const LISTED_FAULTS = 100
const LISTED_LENGTH = 20_000

/** Those that a reply lists. */
export function listedFaults(faults: readonly Fault[]): readonly Fault[] {
  let length = 0
  const end = faults.findIndex(({ pointer = '' }, index) => {
    length += pointer.length
    return index === LISTED_FAULTS || length > LISTED_LENGTH
  })
  return end === -1 ? faults : faults.slice(0, end)
}

/** Whether there are more than a reply lists. */
export function areEnough(faults: readonly Fault[]): boolean {
  return listedFaults(faults).length < faults.length
}

export type ProblemOptions = {
  /** What to change in this case; the table's text by default. Never holds what the caller sent. */
  detail?: string
  /** Faults of form, for 400. */
  faults?: readonly Fault[]
  /** Headers that the reply needs, for example `Allow`. */
  headers?: Readonly<Record<string, string>>
  /** For the log alone. */
  cause?: unknown
  /** Of what was refused nothing is kept: it is about somebody who was erased, which the answer does not say. */
  isForgotten?: boolean
}

/** A refusal. Thrown anywhere on the way of a request, it becomes the reply. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly detail: string
  readonly faults: readonly Fault[]
  readonly headers: Readonly<Record<string, string>>
  readonly isForgotten: boolean

  constructor(
    code: ProblemCode,
    { detail, faults = [], headers = {}, cause, isForgotten = false }: ProblemOptions = {},
  ) {
    super(code, { cause })
    this.name = 'Problem'
    this.code = code
    this.status = problems[code].status
    this.detail = detail ?? problems[code].detail
    this.faults = faults
    this.isForgotten = isForgotten
    this.headers = this.status === 503 ? { 'Retry-After': '1', ...headers } : headers
  }

  /** The reply's body (RFC 9457). */
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
