import { readFileSync } from 'node:fs'
import type { components, operations } from '../generated/contract.ts'
import { operationPaths, personOperationPaths } from '../generated/operations.ts'
import type { Config } from './config.ts'
import type { newId } from './domain/identifiers.ts'
import type { DescribedJourney } from './domain/journey-contract.ts'
import type { DefinedEvent } from './domain/journey-events.ts'
import type { JsonBytes } from './domain/json-bytes.ts'
import type { KeyKind } from './domain/service-keys.ts'
import type { StreamedFile } from './http/answers/streamed-file.ts'
import type { Cookies } from './http/callers/cookies.ts'
import type { Passwords } from './http/callers/passwords.ts'
import { itemsOf } from './http/checks/body-parts.ts'
import { type ContractDocument, contractDocument } from './http/checks/contract-document.ts'
import { type RequestCheck, requestChecks } from './http/checks/request-check.ts'
import type { Attempts } from './http/rates/attempts.ts'
import type { RecentMap } from './http/rates/recent-map.ts'
import type { SharedViews } from './http/rates/shared-views.ts'
import type { RefusedItem } from './http/refused-requests.ts'
import type { BodyLimits } from './http/request-body.ts'
import type { Tally } from './metrics/tally.ts'
import type { EventChecks } from './operations/event-checks.ts'
import type { ViolationTally } from './operations/violation-tally.ts'
import type { Reading, ReadingDatabase, Transaction } from './storage/database.ts'
import type { ServedStorage } from './storage/storage.ts'
import type { CallingKey } from './storage/tables/service-keys.ts'
import type { StoredSession } from './storage/tables/sessions.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

/** Without the messages under `webhooks`, which Cairn sends. */
export type OperationId = keyof typeof operationPaths | keyof typeof personOperationPaths

/** What an operation may use in addition to its request. */
export type Context = {
  /**
   * For reads, and for ingestion, whose units of work do not check the key again: a key that was valid when the request
   * arrived may save its event. All other writes go through `change`.
   */
  storage: Omit<ServedStorage, 'db'> & { db: ReadingDatabase }
  /** The caller's context for list reads. */
  reading: Reading
  /**
   * Runs the work in a transaction, after checking there that the caller is still allowed: its key, session, membership
   * or role may have changed since the request arrived. Commits what the work did when it returns.
   * @param work gets the caller as it is now
   * @throws {Problem} 401 or 403, as before the operation, if the caller is no longer allowed; the work does not start
   */
  change<Result>(work: (db: Transaction, caller: Caller) => Promise<Result>): Promise<Result>
  now: () => number
  newId: typeof newId
  /** Checks a body with which an ingestion operation is to be called. @throws {Problem} `invalid_request` */
  checkBody<Id extends 'initializeCustomer' | 'createEvent' | 'createEvents'>(
    id: Id,
    body: unknown,
  ): Promise<OperationRequest<Id>['body']>
  /** Logs an item of a batch that was rejected and keeps it for inspection. It never waits and never fails. */
  keepRefusal(item: RefusedItem): void
  eventChecks: Pick<EventChecks, 'check'>
  violationTally: Pick<ViolationTally, 'count' | 'written'>
  /** When each caller's reading of rejected requests, or an export, was last recorded, by workspace and caller. */
  notedReaders: Pick<RecentMap<number>, 'get' | 'set'>
  sharedViews: Pick<SharedViews, 'isKnown' | 'note' | 'recent' | 'keep'>
  webhooks: Pick<
    Webhooks,
    'newSecret' | 'eventMessage' | 'untoldSince' | 'assertAllowed' | 'test' | 'isLagging' | 'begin'
  >
  /** Returns the tally of a key. The code that stores what the key has sent counts it here. */
  tallyOf(key_id: string): Tally
  /**
   * Refunds the rate limit for events rejected because of what they refer to: they must not use up a rate that others
   * share.
   */
  refundRate(count: number): void
  caller: Caller
  /** The network address of the caller, without a port. */
  address: string
  requestId: string
  /** Name of the caller's browser; null if unknown. */
  browser: string | null
  /** Those of the request. */
  cookies: { session?: string; device?: string }
  passwords: Pick<Passwords, 'hash' | 'matches'>
  attempts: Pick<Attempts, 'guess'>
  /** What the operator permits members to do. */
  allowed: Pick<Config, 'rateLimitMax' | 'accounts'>
  /** Makes the contract of a journey from that of the server. */
  journeyContract(
    journey: DescribedJourney,
    definitions: readonly DefinedEvent[],
  ): Promise<StreamedFile<'application/yaml'>>
}

/** The caller of an operation. */
export type Caller =
  | { kind: 'key'; key: CallingKey }
  | {
      kind: 'person'
      session: StoredSession
      /** In the workspace that the request is about; undefined for operations without one. */
      membership: { workspace_id: string; role: Role } | undefined
    }
  | { kind: 'nobody' }

export type Role = components['schemas']['Role']

/** A credential that an operation may accept. */
export type Credential = KeyKind | 'session'

/** A request that is valid by the contract, from a caller who is allowed to make it. */
export type OperationRequest<Id extends OperationId> = {
  /** The workspace that the request is about; empty for operations without one. */
  workspaceId: string
  body: operations[Id] extends { requestBody: { content: { 'application/json': infer Body } } }
    ? Body
    : undefined
  path: operations[Id]['parameters'] extends { path: infer Path } ? Path : Record<never, never>
  query: operations[Id]['parameters'] extends { query?: infer Query }
    ? NonNullable<Query>
    : Record<never, never>
}

type Responses<Id extends OperationId> = operations[Id]['responses']

/** A success that the contract declares for the operation. Refusals are thrown as `Problem`. */
type OperationReply<Id extends OperationId> = Id extends OperationId
  ? {
      [Status in keyof Responses<Id>]: Responses<Id>[Status] extends FileResponse<infer Types>
        ? { status: Status; file: StreamedFile<Types & string>; body?: undefined; cookies?: Cookies }
        : Responses<Id>[Status] extends { content: { 'application/json': infer Body } }
          ? { status: Status; body: Body | JsonBytes<Body>; file?: undefined; cookies?: Cookies }
          : Status extends 204
            ? { status: Status; body?: undefined; file?: undefined; cookies?: Cookies }
            : never
    }[keyof Responses<Id>]
  : never

/** A response to be saved as a file. It may be of any length and is streamed. */
type FileResponse<Types> = {
  headers: { 'Content-Disposition': string }
  content: { [Type in Types & PropertyKey]: unknown }
}

export type Operation<Id extends OperationId> = (
  request: OperationRequest<Id>,
  context: Context,
) => Promise<OperationReply<Id>>

/** One function per operation of the contract, and no others. */
export type Operations = { [Id in OperationId]: Operation<Id> }

/** An operation as it is mounted in Express. */
export type Route = {
  operationId: OperationId
  method: string
  /** The path in Express's syntax, including the base path. */
  path: string
  /** The credentials that it accepts; empty: it needs none. */
  accepts: readonly Credential[]
  /** The roles that may call it, for operations of people in a workspace. */
  roles: readonly Role[] | undefined
  hasBody: boolean
  /** Whether the response is a file. */
  isFile: boolean
  bodyLimits: BodyLimits
  /** Number of events that a request with this body counts as. */
  count(body: unknown): number
  check: RequestCheck<Omit<OperationRequest<OperationId>, 'workspaceId'>>
}

/** The validated contract, as text and parsed. */
export type Contract = { text: string; document: ContractDocument; basePath: string; routes: Route[] }

const CREDENTIAL_OF_SCHEME: Record<string, Credential> = {
  PublishableKey: 'publishable',
  SecretKey: 'secret',
  SessionCookie: 'session',
}

/**
 * Reads the contract and prepares the request checks of each operation.
 * @throws {Error} if the file is not a valid contract
 */
export async function loadContract(file: URL): Promise<Contract> {
  const text = readFileSync(file, 'utf8')
  const document = contractDocument(text)
  const basePath = document.servers[0]?.url ?? ''
  const checkOf = requestChecks(document)
  const routes = await Promise.all(
    Object.entries({ ...operationPaths, ...personOperationPaths }).map(
      async ([id, [method, template]]): Promise<Route> => {
        const declared = document.paths[template]?.[method.toLowerCase()]
        if (!declared) throw new Error(`generated/ is out of date: the contract has no ${method} ${template}`)
        const path = basePath + template.replace(/\{(\w+)\}/g, ':$1')
        const counted = declared['x-counted']
        return {
          operationId: id as OperationId,
          method,
          path,
          accepts: (declared.security ?? document.security).map(credentialOf),
          roles: declared['x-roles'],
          hasBody: declared.requestBody !== undefined,
          isFile: declared.responses['200']?.headers?.['Content-Disposition'] !== undefined,
          bodyLimits: {
            ...(declared.requestBody?.['x-limit-bytes'] && { bytes: declared.requestBody['x-limit-bytes'] }),
            kind: counted ? 'batch' : 'single',
          },
          count: (body) => itemsOf(body, counted)?.length || 1,
          check: (await checkOf(method, basePath + template, declared)) as Route['check'],
        }
      },
    ),
  )
  // A concrete path goes before a templated one, for every method.
  routes.sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
  return { text, document, basePath, routes }
}

function credentialOf(scheme: Record<string, unknown>): Credential {
  const [name = ''] = Object.keys(scheme)
  const credential = CREDENTIAL_OF_SCHEME[name]
  if (!credential) throw new Error(`The contract declares an unknown security scheme: ${name}`)
  return credential
}
