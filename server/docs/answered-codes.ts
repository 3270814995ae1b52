type Reference = { $ref: string }
type Example = { value: { code?: string } }
type Response = { content?: Record<string, { examples?: Record<string, Example | Reference> }> }
type Operation = { operationId: string; responses: Record<string, Response | Reference> }
type Contract = {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

/** The operations that return each problem code, by the contract's examples, in its order. */
export function answeredCodes(contract: object): ReadonlyMap<string, readonly string[]> {
  const { paths, components } = contract as Contract
  const resolved = <T extends object>(value: T | Reference): T => {
    if (!('$ref' in value)) return value
    const [, , kind = '', name = ''] = value.$ref.split('/')
    return resolved(components[kind]?.[name] as T | Reference)
  }
  const operations = new Map<string, Set<string>>()
  for (const { operationId, responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
    const contents = Object.values(responses).flatMap((response) =>
      Object.values(resolved<Response>(response).content ?? {}),
    )
    for (const example of contents.flatMap(({ examples = {} }) => Object.values(examples))) {
      const { code } = resolved<Example>(example).value
      if (typeof code !== 'string') continue
      operations.set(code, (operations.get(code) ?? new Set()).add(operationId))
    }
  }
  return new Map([...operations].map(([code, names]) => [code, [...names]]))
}
