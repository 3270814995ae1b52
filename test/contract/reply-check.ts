import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import {
  contractDocument,
  operationFor,
  type Reply,
  type ReplyKind,
  replyKind,
  type Schema,
} from './document.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv, { mode: 'full' })
ajv.addSchema(contractDocument(), 'contract')
const validators = new Map<Schema, ValidateFunction>()

/** The kinds of response checked so far. */
export const seenReplies = new Set<ReplyKind>()

/**
 * Checks a response against the contract: declared status, media type, headers and body.
 * @param path of the request below the base path, with or without a query
 * @returns the response, not yet read
 * @throws {Error} if the contract does not declare it
 */
export async function checkReply(method: string, path: string, response: Response): Promise<Response> {
  const name = `${method} ${path} answered ${response.status}`
  const operation = operationFor(method, path.replace(/\?.*/s, ''))
  if (!operation) {
    if (![204, 404, 405].includes(response.status)) throw new Error(`${name}, but is no operation`)
    return response
  }
  const type = response.headers.get('content-type') ?? ''
  seenReplies.add(replyKind(operation, response.status, type))
  const reply = operation.replies[response.status]
  if (!reply) throw new Error(`${name}, which the contract does not declare`)
  checkHeaders(name, reply, response)
  if (Object.keys(reply.content).length === 0) {
    const body = await response.clone().text()
    if (type !== '' || body !== '')
      throw new Error(`${name} with content, which the contract does not declare`)
    return response
  }
  const media = reply.content[type]
  if (!media) throw new Error(`${name} with the undeclared media type ${type}`)
  const text = await response.clone().text()
  for (const value of valuesOf(type, text)) assertValid(name, media.schema, value)
  return response
}

/** Returns the values that the schema describes: the JSON of a body, or of each of its lines. */
function valuesOf(type: string, text: string): unknown[] {
  if (type === 'text/csv') return [text]
  if (type !== 'application/x-ndjson') return [JSON.parse(text)]
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** @throws {Error} if the value violates the contract's schema */
export function assertValid(name: string, schema: Schema, value: unknown): void {
  let validate = validators.get(schema)
  if (!validate) {
    // A reference into the contract must be relative to the schema's own identifier.
    validate = ajv.compile({ $id: `contract-${validators.size}`, ...absolute(schema) })
    validators.set(schema, validate)
  }
  if (!validate(value)) throw new Error(`${name} against the contract: ${ajv.errorsText(validate.errors)}`)
}

function checkHeaders(name: string, reply: Reply, response: Response) {
  for (const [header, { required, schema }] of Object.entries(reply.headers)) {
    const value = response.headers.get(header)
    if (value === null && required) throw new Error(`${name} without the header ${header}`)
    if (value === null) continue
    assertValid(`${name}, header ${header},`, schema, schema.type === 'integer' ? Number(value) : value)
  }
}

function absolute(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (name, value) => {
    return name === '$ref' && String(value).startsWith('#') ? `contract${value}` : value
  })
}
