import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { pointerTo } from '../server/domain/json.ts'

type Reference = { $ref: string }
type Reply = {
  headers?: Record<string, Reference | { required?: boolean; schema: object }>
  content?: Record<string, { schema: object }>
}
type Declared = { operationId: string; responses: Record<string, Reference | Reply> }
type Document = { paths: Record<string, Record<string, Declared>> }

const document: Document = parse(readFileSync('openapi.yaml', 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv, { mode: 'full' })
ajv.addSchema(document, 'contract')
const validators = new Map<string, ValidateFunction>()

/**
 * Checks a reply against the contract: declared status, media type, headers and body.
 * @returns the reply, not yet read
 * @throws {Error} where the contract does not declare it
 */
export async function checkReply(request: Request, response: Response): Promise<Response> {
  const { pathname } = new URL(request.url)
  const name = `${request.method} ${pathname} answered ${response.status}`
  const place = operationAt(request.method, pathname.replace(/^\/v1/, ''))
  if (!place) {
    if (![204, 404, 405].includes(response.status)) throw new Error(`${name}, but is no operation`)
    return response
  }
  const pointer = deref(`${place}/responses/${response.status}`)
  const reply = pointer && (at(pointer) as Reply | undefined)
  if (!reply) throw new Error(`${name}, which the contract does not declare`)
  checkHeaders(name, pointer, reply, response)
  const type = response.headers.get('content-type') ?? ''
  if (!reply.content?.[type]) throw new Error(`${name} with the undeclared media type ${type}`)
  check(name, `${pointerTo(`${pointer}/content`, type)}/schema`, await response.clone().json())
  return response
}

function checkHeaders(name: string, pointer: string, reply: Reply, response: Response) {
  for (const header of Object.keys(reply.headers ?? {})) {
    const place = deref(pointerTo(`${pointer}/headers`, header))
    const declared = at(place) as { required?: boolean; schema: { type: string } }
    const value = response.headers.get(header)
    if (value === null && declared.required) throw new Error(`${name} without the header ${header}`)
    if (value === null) continue
    check(
      `${name}, header ${header},`,
      `${place}/schema`,
      declared.schema.type === 'integer' ? Number(value) : value,
    )
  }
}

function check(name: string, pointer: string, value: unknown) {
  let validate = validators.get(pointer)
  if (!validate) {
    validate = ajv.compile({ $ref: `contract#${encodeURI(pointer)}` })
    validators.set(pointer, validate)
  }
  if (!validate(value)) throw new Error(`${name} against the contract: ${ajv.errorsText(validate.errors)}`)
}

/** The JSON Pointer of the operation, concrete paths before templated ones. */
function operationAt(method: string, path: string): string | undefined {
  const templates = Object.keys(document.paths).sort(
    (a, b) => Number(a.includes('{')) - Number(b.includes('{')),
  )
  const found = templates.find((template) => {
    return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)
  })
  if (!found || !document.paths[found]?.[method.toLowerCase()]) return undefined
  return `${pointerTo('/paths', found)}/${method.toLowerCase()}`
}

/** The pointer, or the one that it refers to. */
function deref(pointer: string): string {
  const value = at(pointer)
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return pointer
  return deref(String(value.$ref).slice(1))
}

function at(pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
}
