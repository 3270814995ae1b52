type Contract = {
  paths: Record<string, Record<string, object>>
  components: object
}
type Components = Record<string, Record<string, unknown>>

/** A part of `components`, as it is referred to. */
const REFERENCE = /^#\/components\/(\w+)\/(.+)$/

/**
 * What of the contract says which requests are allowed, as a document of its own. The validator goes through all of its
 * document, each reference in it written out, whenever an operation is called for the first time: a tenth of a second of
 * the whole, a few milliseconds of this.
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
  return structuredClone({ ...document, paths: Object.fromEntries(paths), components })
}
