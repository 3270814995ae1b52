type Contract = {
  paths: Record<string, Record<string, object>>
  components: object
}
type Components = Record<string, Record<string, unknown>>

/** A reference to a part of `components`. */
const REFERENCE = /^#\/components\/(\w+)\/(.+)$/

/**
 * Returns the part of the contract that describes requests. The validator processes its whole document, with references
 * dereferenced, at the first call of each operation: a tenth of a second for the whole contract, a few milliseconds for
 * this.
 */
export function requestPart<Document extends Contract>(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => {
      return [method, { ...operation, responses: {} }] as const
    })
    return [path, Object.fromEntries(operations)] as const
  })
  const all = document.components as Components
  const components: Components = { securitySchemes: all.securitySchemes ?? {} }
  const keep = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      const [, kind = '', component = ''] = (name === '$ref' && REFERENCE.exec(String(inner))) || []
      components[kind] ??= {}
      const kept = components[kind]
      if (component !== '' && !(component in kept)) {
        kept[component] = all[kind]?.[component]
        keep(kept[component])
      }
      keep(inner)
    }
  }
  keep(paths)
  delete components['']
  // Messages that Cairn sends are no requests to it.
  return structuredClone({ ...document, paths: Object.fromEntries(paths), webhooks: {}, components })
}

/** Whether a schema refers to one that contains itself. */
export function isRecursive(schema: unknown, components: object, outer: readonly string[] = []): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([name, inner]) => {
    const [, kind = '', component = ''] = (name === '$ref' && REFERENCE.exec(String(inner))) || []
    if (component === '') return isRecursive(inner, components, outer)
    if (outer.includes(component)) return true
    return isRecursive((components as Components)[kind]?.[component], components, [...outer, component])
  })
}
