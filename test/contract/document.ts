import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'

/** A JSON Schema in the contract; `resolved` resolves its references one level at a time. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean
}

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
  example: unknown
}
export type Role = 'owner' | 'admin' | 'viewer'
type Examples = Record<string, { value: unknown } | undefined>
type MediaType = { schema: Schema; examples: Examples }
type Header = { required?: boolean; schema: Schema }
export type Reply = { headers: Record<string, Header>; content: Record<string, MediaType> }

/** An operation of the contract with all references to components resolved, except schemas. */
export type ContractOperation = {
  operationId: string
  method: string
  path: string
  parameters: Parameter[]
  /** The request body; undefined if there is none. */
  body: MediaType | undefined
  replies: Record<string, Reply>
  /** Names of the security schemes, any of which gives access; empty if it needs no credential. */
  accepts: string[]
  /** The member roles that may call it; undefined if it is not about a workspace or not for people. */
  roles: Role[] | undefined
}

type Json = { [name: string]: unknown }

const document = load(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')) as Json

/** Returns the contract as it is written. */
export function contractDocument(): object {
  return document
}

/** The operations of the contract, in its order. */
export const operations: ContractOperation[] = Object.entries(document.paths as Record<string, Json>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, declared]) => operationOf(path, method, declared as Json)),
)

/** Resolves the references of a schema. Properties beside a reference take precedence. */
export function resolved(schema: Schema): Schema {
  const { $ref, ...rest } = schema
  return $ref === undefined ? schema : { ...resolved(lookUp($ref) as Schema), ...rest }
}

function operationOf(path: string, method: string, declared: Json): ContractOperation {
  const security = (declared.security ?? document.security) as Json[]
  const body = deref(declared.requestBody) as { content: Record<string, MediaType> } | undefined
  return {
    operationId: String(declared.operationId),
    method: method.toUpperCase(),
    path,
    parameters: ((declared.parameters ?? []) as unknown[]).map((parameter) => deref(parameter) as Parameter),
    body: body?.content['application/json'],
    replies: Object.fromEntries(
      Object.entries(declared.responses as Json).map(([status, reply]) => [status, replyOf(deref(reply))]),
    ),
    accepts: security.flatMap(Object.keys),
    roles: declared['x-roles'] as Role[] | undefined,
  }
}

/** A kind of response: `createEvent 201 application/json`, or `signOut 204 no content`. */
export type ReplyKind = string

/** @param type the media type; empty for a response without content */
export function replyKind(
  { operationId }: ContractOperation,
  status: string | number,
  type: string,
): ReplyKind {
  return `${operationId} ${status} ${type || 'no content'}`
}

/** Returns every kind of response that the contract declares for the operation. */
export function declaredReplies(operation: ContractOperation): ReplyKind[] {
  return Object.entries(operation.replies).flatMap(([status, { content }]) => {
    const types = Object.keys(content)
    return (types.length > 0 ? types : ['']).map((type) => replyKind(operation, status, type))
  })
}

/** An example of a problem among an operation's responses, with its name. */
export type ShownProblem = { name: string; status: number; code: string }

/** Returns all examples of problems among the operation's responses. */
export function shownProblems({ replies }: ContractOperation): ShownProblem[] {
  return Object.entries(replies).flatMap(([status, { content }]) =>
    Object.entries(content['application/problem+json']?.examples ?? {}).map(([name, example]) => {
      return { name, status: Number(status), code: (example as { value: { code: string } }).value.code }
    }),
  )
}

function replyOf(reply: unknown): Reply {
  const { headers = {}, content = {} } = reply as { headers?: Json; content?: Record<string, MediaType> }
  const media = Object.entries(content).map(([type, { schema, examples = {} }]) => {
    const values = Object.entries(examples).map(([name, example]) => [name, deref(example)])
    return [type, { schema, examples: Object.fromEntries(values) }]
  })
  return {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, header]) => [name, deref(header) as Header]),
    ),
    content: Object.fromEntries(media),
  }
}

function deref(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value
  return deref(lookUp(String(value.$ref)))
}

/** @param reference `#/components/…` */
function lookUp(reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, step) => (value as Json)[step], document)
}

/** Returns the operation that serves a request; concrete paths take precedence over templated ones. */
export function operationFor(method: string, path: string): ContractOperation | undefined {
  const matching = operations.filter((operation) => {
    return new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)
  })
  const concrete = matching.filter((operation) => !operation.path.includes('{'))
  return (concrete.length > 0 ? concrete : matching).find((operation) => operation.method === method)
}
