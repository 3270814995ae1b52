import { readFileSync } from 'node:fs'
import { parse as parseUrl } from 'node:url'
import type { Request, RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import type { components, operations } from '../generated/contract.ts'
import { operationPaths, personOperationPaths } from '../generated/operations.ts'
import type { Config } from './config.ts'
import { contractDocument } from './contract-document.ts'
import type { newId } from './domain/identifiers.ts'
import type { JsonBytes } from './domain/json-bytes.ts'
import type { KeyKind } from './domain/service-keys.ts'
import type { StreamedFile } from './http/answers/streamed-file.ts'
import type { Cookies } from './http/callers/cookies.ts'
import { bodyParts, bodyShape, inWhole, itemsOf, lengthFaults } from './http/checks/body-parts.ts'
import { distinct, faultOf, refusalTexts, type ValidatorError } from './http/checks/faults.ts'
import { type Parameter, readQuery } from './http/checks/query.ts'
import { requestPart } from './http/checks/request-part.ts'
import type { Attempts } from './http/rates/attempts.ts'
import type { LoopTime } from './http/rates/loop-scheduler.ts'
import type { RecentMap } from './http/rates/recent-map.ts'
import type { RefusedItem } from './http/refused-requests.ts'
import type { BodyLimits } from './http/request-body.ts'
import type { Passwords } from './passwords.ts'
import { areEnough, Problem } from './problems.ts'
import type { Reading, ReadingDatabase, Transaction } from './storage/database.ts'
import type { ServedStorage } from './storage/storage.ts'
import type { CallingKey } from './storage/tables/service-keys.ts'
import type { StoredSession } from './storage/tables/sessions.ts'
import type { Tally } from './tally.ts'

export type OperationId = keyof operations

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
  /** When each caller's reading of rejected requests, or an export, was last recorded, by workspace and caller. */
  notedReaders: Pick<RecentMap<number>, 'get' | 'set'>
  /** Of the caller's key. The code that stores what was sent counts it here. */
  tally: Tally
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
export type OperationReply<Id extends OperationId> = Id extends OperationId
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

/** The parts of a request that are checked besides its body. */
export type CheckedRequest = Pick<Request, 'method' | 'originalUrl' | 'headers' | 'params'>

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
  /**
   * @param loop time of the event loop; a long list is checked in slices
   * @throws {Problem} `invalid_request` with every fault, up to a limit slightly above what the response lists, if the
   *   request violates the contract
   */
  check(
    req: CheckedRequest,
    body: unknown,
    loop: LoopTime,
  ): Promise<Omit<OperationRequest<OperationId>, 'workspaceId'>>
}

/** The validated contract, as text and parsed. */
export type Contract = { text: string; document: Document; basePath: string; routes: Route[] }

type Declared = {
  security?: Record<string, unknown>[]
  requestBody?: { 'x-limit-bytes'?: number; content: { 'application/json': { schema: unknown } } }
  parameters?: unknown[]
  responses: Record<string, { headers?: Record<string, unknown> }>
  'x-counted'?: string
  'x-roles'?: Role[]
}
type Document = {
  servers: { url: string }[]
  paths: Record<string, Record<string, Declared>>
  security: Record<string, unknown>[]
  components: {
    parameters?: Record<string, unknown>
    schemas?: Record<string, unknown>
  }
}

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
  const document = contractDocument(text) as Document
  const basePath = document.servers[0]?.url ?? ''
  const refusals = refusalTexts(document.components)
  // A copy, because the validator modifies the document that it gets.
  const validator = validatorSteps(requestPart(document))
  const routes = await Promise.all(
    Object.entries({ ...operationPaths, ...personOperationPaths }).map(
      async ([id, [method, template]]): Promise<Route> => {
        const declared = document.paths[template]?.[method.toLowerCase()]
        if (!declared) throw new Error(`generated/ is out of date: the contract has no ${method} ${template}`)
        const path = basePath + template.replace(/\{(\w+)\}/g, ':$1')
        const metadata = await operationMetadata(validator.metadata, method, basePath + template)
        const parameters = (declared.parameters ?? []).map((parameter) =>
          resolve<Parameter & { in: string }>(document, 'parameters', parameter),
        )
        const query = parameters
          .filter((parameter) => parameter.in === 'query')
          .map(({ name, schema }) => ({
            name,
            schema: resolve<Parameter['schema']>(document, 'schemas', schema),
          }))
        const bodySchema = declared.requestBody?.content['application/json'].schema
        const shape = bodyShape(bodySchema, (schema) => resolve(document, 'schemas', schema))
        const counted = declared['x-counted']
        const hasPathParams = path.includes(':')
        const withoutPathParams = { ...metadata, pathParams: NO_PARAMETERS }
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
          async check(req, body, loop) {
            const { values, faults: ofQuery } = readQuery(req.originalUrl, query)
            const pathParams: Record<string, unknown> = hasPathParams ? { ...req.params } : NO_PARAMETERS
            // A separate object: redefining properties of Express's request takes longer than the check. The validator
            // parses the URL only for its query, which takes 5 µs.
            const request = {
              method: req.method,
              headers: req.headers,
              originalUrl: query.length > 0 && req.originalUrl.includes('?') ? req.originalUrl : '',
              params: req.params,
              query: values,
              openapi: hasPathParams ? { ...metadata, pathParams } : withoutPathParams,
              body,
            }
            let faults = ofQuery
            const tooLong = lengthFaults(body, shape)
            if (tooLong.length > 0) faults = [...faults, ...tooLong]
            for (const part of bodyParts(body, shape)) {
              if (part.from > 0) await loop.next()
              request.body = part.body
              const found = await refusedBy(validator.request, request)
              if (found.length > 0) {
                const told = found.map((error) => faultOf(error, { body: part.body, shape, refusals }))
                faults = distinct([...faults, ...told.map((fault) => inWhole(fault, shape, part))])
              }
              if (areEnough(faults)) break
            }
            if (faults.length > 0) throw new Problem('invalid_request', { faults: distinct(faults) })
            return { body, path: pathParams, query: request.query } as Omit<
              OperationRequest<OperationId>,
              'workspaceId'
            >
          },
        }
      },
    ),
  )
  // A concrete path goes before a templated one, for every method.
  routes.sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
  return { text, document, basePath, routes }
}

/** Shared by all requests whose path has no parameters; nothing writes to it. */
const NO_PARAMETERS = Object.freeze({})

function credentialOf(scheme: Record<string, unknown>): Credential {
  const [name = ''] = Object.keys(scheme)
  const credential = CREDENTIAL_OF_SCHEME[name]
  if (!credential) throw new Error(`The contract declares an unknown security scheme: ${name}`)
  return credential
}

/**
 * Returns the two middlewares of express-openapi-validator that are used. Each operation has its own route in Express,
 * so the validator's path search, which compiles every path's expression on each request, runs once at start: with 30
 * operations a request takes 49 µs with it and 5 µs without. The middlewares are known by name only, hence the exact
 * version in package.json.
 */
function validatorSteps(apiSpec: Document): { metadata: RequestHandler; request: RequestHandler } {
  warnSilentlyOfUrlParse()
  const steps = middleware({
    apiSpec: apiSpec as never,
    // With references kept, the compiled check copies all previous faults at each one: 2.6 s for 20,000 invalid items,
    // 0.1 s without.
    $refParser: { mode: 'dereference' },
    // The lint checks it. Here it would add a tenth of a second to every start.
    validateApiSpec: false,
    validateRequests: { allErrors: true, allowUnknownQueryParameters: true },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The fast formats accept the date 2023-02-30.
    ajvFormats: { mode: 'full' },
    fileUploader: false,
  })
  const step = (name: string) => {
    const found = steps.find((step) => step.name === name)
    if (!found)
      throw new Error(`express-openapi-validator has no ${name}; is it the exact version of package.json?`)
    return found as RequestHandler
  }
  return { metadata: step('metadataMiddleware'), request: step('requestMiddleware') }
}

/**
 * Triggers Node's deprecation warning for `url.parse` once, silently. Until it has been issued, Node inspects the call
 * stack on every call to find the caller: 8 µs per request, in the validator. Only the validator's authors can act on
 * it.
 */
function warnSilentlyOfUrlParse() {
  const { noDeprecation = false } = process
  process.noDeprecation = true
  parseUrl('')
  process.noDeprecation = noDeprecation
}

/**
 * Runs the validator's metadata middleware once with a matching request and returns the result. Fails for an invalid
 * contract.
 */
async function operationMetadata(metadata: RequestHandler, method: string, template: string) {
  const app = { enabled: () => true }
  const req = { method, path: template, originalUrl: template, baseUrl: '', app, openapi: undefined }
  await new Promise<void>((resolve, reject) => {
    metadata(req as never, {} as never, (error?: unknown) => (error ? reject(error) : resolve()))
  })
  if (!req.openapi) throw new Error(`express-openapi-validator does not find ${method} ${template}`)
  return req.openapi as object
}

const NO_FAULTS: readonly ValidatorError[] = []

async function refusedBy(step: RequestHandler, request: object): Promise<readonly ValidatorError[]> {
  try {
    await new Promise<void>((resolve, reject) => {
      step(request as never, {} as never, (error?: unknown) => (error ? reject(error) : resolve()))
    })
    return NO_FAULTS
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 400 && 'errors' in error) {
      return error.errors as ValidatorError[]
    }
    throw error
  }
}

/** Resolves a `$ref` into `components`; returns any other value unchanged. */
function resolve<T>(document: Document, place: 'parameters' | 'schemas', value: unknown): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const name = String(value.$ref).replace(`#/components/${place}/`, '')
  return document.components[place]?.[name] as T
}
