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

/** What an operation may use besides its request. */
export type Context = {
  /**
   * For reading, and for ingestion, whose units of work write and do not look at the key again: one that was valid when the
   * request came in may save its event. All else is written by `change`.
   */
  storage: Omit<ServedStorage, 'db'> & { db: ReadingDatabase }
  /** The caller's, for what is listed. */
  reading: Reading
  /**
   * Runs the work in a transaction, once the caller may still do it there: its key, or its session, membership and role,
   * may have ended or changed since the request came in. What the work returns is committed.
   * @param work gets the caller as it is now
   * @throws {Problem} 401 or 403 as before the operation, where the caller may no more; the work is not begun
   */
  change<Result>(work: (db: Transaction, caller: Caller) => Promise<Result>): Promise<Result>
  now: () => number
  newId: typeof newId
  /** Checks a body that an operation of ingestion is to be called with. @throws {Problem} `invalid_request` */
  checkBody<Id extends 'initializeCustomer' | 'createEvent' | 'createEvents'>(
    id: Id,
    body: unknown,
  ): Promise<OperationRequest<Id>['body']>
  /** Tells the log of an item of a batch that was rejected, and keeps it to be looked at; it never waits and never fails. */
  keepRefusal(item: RefusedItem): void
  /** When it was last noted that somebody reads what was refused, or exports, by workspace and by who it is. */
  notedReaders: Pick<RecentMap<number>, 'get' | 'set'>
  /** Of the caller's key. Whoever stores what was sent counts it here. */
  tally: Tally
  /** Refunds the rate of events that were rejected for what they refer to: they must not use up a rate that others share. */
  refundRate(count: number): void
  caller: Caller
  /** The network address of the caller, without a port. */
  address: string
  requestId: string
  /** What the caller's browser is called; null where it is not known. */
  browser: string | null
  /** Those of the request. */
  cookies: { session?: string; device?: string }
  passwords: Pick<Passwords, 'hash' | 'matches'>
  attempts: Pick<Attempts, 'guess'>
  /** What the operator leaves to members. */
  allowed: Pick<Config, 'rateLimitMax' | 'accounts'>
}

/** Who calls. */
export type Caller =
  | { kind: 'key'; key: CallingKey }
  | {
      kind: 'person'
      session: StoredSession
      /** In the workspace that the request is about; undefined for operations that are about none. */
      membership: { workspace_id: string; role: Role } | undefined
    }
  | { kind: 'nobody' }

export type Role = components['schemas']['Role']

/** What may open an operation. */
export type Credential = KeyKind | 'session'

/** A request that the contract allows, of a caller who may make it. */
export type OperationRequest<Id extends OperationId> = {
  /** The workspace that the request is about; empty for operations that are about none. */
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

/** A success that the contract declares for the operation. Refusals are thrown. */
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

/** A response that is to be kept as a file, and may be of any length: it is sent while it is made. */
type FileResponse<Types> = {
  headers: { 'Content-Disposition': string }
  content: { [Type in Types & PropertyKey]: unknown }
}

export type Operation<Id extends OperationId> = (
  request: OperationRequest<Id>,
  context: Context,
) => Promise<OperationReply<Id>>

/** One function for every operation of the contract, and no other. */
export type Operations = { [Id in OperationId]: Operation<Id> }

/** What of a request is checked beside its body. */
export type CheckedRequest = Pick<Request, 'method' | 'originalUrl' | 'headers' | 'params'>

/** An operation as HTTP reaches it. */
export type Route = {
  operationId: OperationId
  method: string
  /** The path as Express matches it, the base path included. */
  path: string
  /** The credentials of which one opens it; none: it needs none. */
  accepts: readonly Credential[]
  /** The roles for which it is, where it is about a workspace and open to people. */
  roles: readonly Role[] | undefined
  hasBody: boolean
  /** Whether it answers with a file. */
  isFile: boolean
  bodyLimits: BodyLimits
  /** How many events a request with this body counts as. */
  count(body: unknown): number
  /**
   * @param loop the time of the event loop, which a long list gives up between its parts
   * @throws {Problem} `invalid_request` with every fault, up to some more than are told, where the contract does not
   *   allow the request
   */
  check(
    req: CheckedRequest,
    body: unknown,
    loop: LoopTime,
  ): Promise<Omit<OperationRequest<OperationId>, 'workspaceId'>>
}

/** The contract, checked, as the file and as a document. */
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
 * Reads the contract and prepares the checks of each operation.
 * @throws {Error} where the file is no valid contract
 */
export async function loadContract(file: URL): Promise<Contract> {
  const text = readFileSync(file, 'utf8')
  const document = contractDocument(text) as Document
  const basePath = document.servers[0]?.url ?? ''
  const refusals = refusalTexts(document.components)
  // Its own: the validator changes the document that it is given.
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
            // An object of its own: to redefine properties of Express's request takes longer than the check. The
            // validator parses the URL for the query alone, which takes 5 µs.
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

/** Of a path without any; one for all requests, since nobody writes there. */
const NO_PARAMETERS = Object.freeze({})

function credentialOf(scheme: Record<string, unknown>): Credential {
  const [name = ''] = Object.keys(scheme)
  const credential = CREDENTIAL_OF_SCHEME[name]
  if (!credential)
    throw new Error(`The contract has a security scheme that the server does not know: ${name}`)
  return credential
}

/**
 * The two steps of express-openapi-validator that are used. Each operation has its own route in Express, so that the
 * validator's search for the path, which compiles every path's expression on each request, is done once at boot:
 * 49 µs a request with 30 operations, 5 µs without it. The steps are known by name only, hence the exact version in
 * package.json.
 */
function validatorSteps(apiSpec: Document): { metadata: RequestHandler; request: RequestHandler } {
  warnSilentlyOfUrlParse()
  const steps = middleware({
    apiSpec: apiSpec as never,
    // At a reference the compiled check copies all faults so far: 2.6 s for 20,000 wrong items, 0.1 s without.
    $refParser: { mode: 'dereference' },
    // The lint has done it. Here it would take a tenth of a second of every start.
    validateApiSpec: false,
    validateRequests: { allErrors: true, allowUnknownQueryParameters: true },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The fast formats accept 2023-02-30.
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
 * Until it has warned once that `url.parse` is deprecated, Node looks at the call stack each time to see who calls: 8 µs
 * of every request, in the validator. The warning is for the validator's authors.
 */
function warnSilentlyOfUrlParse() {
  const { noDeprecation = false } = process
  process.noDeprecation = true
  parseUrl('')
  process.noDeprecation = noDeprecation
}

/** What the validator finds out about an operation, by a request that it would match. Fails with a bad contract. */
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

/** What stands in the contract, or what it refers to in `components`. */
function resolve<T>(document: Document, place: 'parameters' | 'schemas', value: unknown): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const name = String(value.$ref).replace(`#/components/${place}/`, '')
  return document.components[place]?.[name] as T
}
