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
  const part = structuredClone({ ...document, paths: Object.fromEntries(paths), components })
  unroll(part.components as Components)
  return part
}

/** Maximum nesting of a schema that contains itself. Operations refuse values that are nested deeper. */
const LEVELS = 8

/**
 * Replaces a schema that contains itself by one schema per level, because the validator follows references without end.
 * The last level accepts everything.
 */
function unroll({ schemas = {} }: Components) {
  for (const [name, schema] of Object.entries(schemas)) {
    const own = `"$ref":"#/components/schemas/${name}"`
    const text = JSON.stringify(schema)
    if (!text.includes(own)) continue
    for (let level = 1; level <= LEVELS; level += 1) {
      const inner = own.replace(name, `${name}${level}`)
      schemas[level === 1 ? name : `${name}${level - 1}`] = JSON.parse(text.replaceAll(own, inner))
    }
    schemas[`${name}${LEVELS}`] = {}
  }
}
