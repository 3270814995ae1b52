type Example = { value: unknown }
type Parameter = { $ref?: string; name: string; in: string; required?: boolean; example: unknown }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { examples: Record<string, Example> } } }
}
type Contract = {
  paths: Record<string, Record<string, Operation>>
  components: { parameters?: Record<string, Parameter> }
}

/** Where a server listens that was started without any setting. */
const BASE_URL = 'http://127.0.0.1:3000/v1'

/**
 * The contract with a request by curl and one by our client for every operation, made of the contract's own examples
 * (`x-codeSamples`, as Redoc shows them).
 */
export function withSamples(contract: object): object {
  const { paths, components, ...rest } = contract as Contract
  const parameterOf = (parameter: Parameter) => {
    const name = parameter.$ref?.replace('#/components/parameters/', '')
    return (name && components.parameters?.[name]) || parameter
  }
  const sampled = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => {
      const parameters = (operation.parameters ?? []).map(parameterOf).filter(({ required }) => required)
      const [example] = Object.values(operation.requestBody?.content['application/json'].examples ?? {})
      const request = { method: method.toUpperCase(), path, parameters, body: example?.value }
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
  return { ...rest, paths: Object.fromEntries(sampled), components }
}

type Request = { method: string; path: string; parameters: Parameter[]; body: unknown }

function curlSample({ method, path, parameters, body }: Request): string {
  const filled = parameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example)),
    path,
  )
  const implied = body === undefined ? 'GET' : 'POST'
  const command = method === implied ? 'curl' : `curl -X ${method}`
  const lines = [`${command} ${BASE_URL}${filled}`, '-H "x-service-key: $SERVICE_KEY"']
  if (body !== undefined) {
    lines.push("-H 'content-type: application/json'", `-d '${JSON.stringify(body, null, 2)}'`)
  }
  return lines.join(' \\\n  ')
}

function clientSample(operationId: string, { parameters, body }: Request): string {
  const path = Object.fromEntries(parameters.map(({ name, example }) => [name, example]))
  const request = { ...(parameters.length > 0 && { path }), ...(body !== undefined && { body }) }
  const argument = Object.keys(request).length > 0 ? literal(request, '') : ''
  return [
    "import { createClient } from 'cairn-client'",
    '',
    `const cairn = createClient({ baseUrl: '${BASE_URL}', serviceKey })`,
    `const { data, error } = await cairn.${operationId}(${argument})`,
  ].join('\n')
}

/** A JSON value as TypeScript writes it. */
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
