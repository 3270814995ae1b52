type Example = { value: unknown }
type Parameter = { $ref?: string; name: string; in: string; required?: boolean; example: unknown }
type Security = Record<string, unknown>[]
type Operation = {
  operationId: string
  security?: Security
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { examples: Record<string, Example> } } }
  responses: Record<string, { headers?: object }>
}
type Contract = {
  security: Security
  paths: Record<string, Record<string, Operation>>
  components: { parameters?: Record<string, Parameter> }
}

/** The address of a server with default settings. */
const ORIGIN = 'http://127.0.0.1:3000'
const BASE_URL = `${ORIGIN}/v1`

/**
 * Returns the contract with code samples for every operation (`x-codeSamples`, shown by Redoc): a request with curl and one
 * with our client, based on the contract's examples. They use a service key if the operation accepts one, otherwise a session.
 */
export function withSamples(contract: object): object {
  const { paths, components, security, ...rest } = contract as Contract
  const parameterOf = (parameter: Parameter) => {
    const name = parameter.$ref?.replace('#/components/parameters/', '')
    return (name && components.parameters?.[name]) || parameter
  }
  const sampled = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => {
      const parameters = (operation.parameters ?? []).map(parameterOf)
      const [example] = Object.values(operation.requestBody?.content['application/json'].examples ?? {})
      const request = {
        method: method.toUpperCase(),
        path,
        pathParameters: parameters.filter((parameter) => parameter.in === 'path'),
        queryParameters: parameters.filter((parameter) => parameter.in === 'query' && parameter.required),
        body: example?.value,
        accepts: (operation.security ?? security).flatMap(Object.keys),
        isAboutWorkspace: parameters.some(({ name }) => name === 'x-workspace-id'),
        setsCookie: Object.values(operation.responses).some(
          ({ headers }) => headers && 'Set-Cookie' in headers,
        ),
      }
      const samples = [
        { lang: 'Shell', label: 'curl', source: curlSample(request) },
        {
          lang: 'TypeScript',
          label: 'TypeScript client',
          source: clientSample(operation.operationId, request),
        },
      ]
      return [method, { ...operation, 'x-codeSamples': samples }]
    })
    return [path, Object.fromEntries(operations)]
  })
  return { ...rest, security, paths: Object.fromEntries(sampled), components }
}

type Request = {
  method: string
  path: string
  pathParameters: Parameter[]
  /** Those that are required. */
  queryParameters: Parameter[]
  body: unknown
  /** The security schemes that the operation accepts; none if it needs no credential. */
  accepts: string[]
  isAboutWorkspace: boolean
  setsCookie: boolean
}

function opensByKey({ accepts }: Request): boolean {
  return accepts.includes('SecretKey')
}

function curlSample(request: Request): string {
  const { method, path, pathParameters, queryParameters, body } = request
  const filled = pathParameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example)),
    path,
  )
  const implied = body === undefined ? 'GET' : 'POST'
  const command = method === implied ? 'curl' : `curl -X ${method}`
  const url = `${BASE_URL}${filled}`
  const query = new URLSearchParams(queryParameters.map(({ name, example }) => [name, String(example)]))
  // Between quotes, because ? and & mean something to a shell.
  const lines = [`${command} ${query.size > 0 ? quoted(`${url}?${query}`) : url}`]
  lines.push(...(opensByKey(request) ? ['-H "x-service-key: $CAIRN_SERVICE_KEY"'] : sessionOptions(request)))
  if (body !== undefined) {
    lines.push("-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`)
  }
  return lines.join(' \\\n  ')
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** What curl needs to act like a browser: store the session's cookie, send it, and send the page's origin. */
function sessionOptions({ method, accepts, setsCookie }: Request): string[] {
  return [
    ...(accepts.includes('SessionCookie') ? ['-b cookies.txt'] : []),
    ...(setsCookie ? ['-c cookies.txt'] : []),
    ...(method === 'GET' ? [] : [`-H 'Origin: ${ORIGIN}'`]),
  ]
}

function clientSample(operationId: string, request: Request): string {
  const { pathParameters, queryParameters, body } = request
  const parts = {
    ...(pathParameters.length > 0 && { path: valuesOf(pathParameters) }),
    ...(queryParameters.length > 0 && { query: valuesOf(queryParameters) }),
    ...(body !== undefined && { body }),
  }
  const argument = Object.keys(parts).length > 0 ? literal(parts, '') : ''
  const setUp = opensByKey(request)
    ? [
        "import { createClient } from 'cairn-client'",
        '',
        `const cairn = createClient({ baseUrl: '${BASE_URL}', serviceKey })`,
      ]
    : [
        "import { createPersonClient } from 'cairn-client/person'",
        '',
        `const cairn = createPersonClient({ baseUrl: '/v1'${request.isAboutWorkspace ? ', workspaceId' : ''} })`,
      ]
  return [...setUp, `const { data, error } = await cairn.${operationId}(${argument})`].join('\n')
}

function valuesOf(parameters: Parameter[]): Record<string, unknown> {
  return Object.fromEntries(parameters.map(({ name, example }) => [name, example]))
}

/** A JSON value in TypeScript's notation. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, field]) => `${name}: ${literal(field, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return lines.length === 0
    ? `${open}${close}`
    : `${open}\n${lines.map((line) => `${inner}${line},\n`).join('')}${indent}${close}`
}
