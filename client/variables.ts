/** Deeper than the contract allows. Deeper still JSON.stringify tells of a cycle, and the server of the depth. */
const mostLevels = 40

/**
 * Refuses what JSON.stringify would change without a word: NaN becomes null, a Map {}, undefined nothing. What has a
 * `toJSON` is taken as what that answers, such as the text of a Date.
 *
 * @param pointer where the value is in the body (JSON Pointer)
 * @throws {TypeError} that names the place
 */
export function assertJson(value: unknown, pointer: string, levels = mostLevels): void {
  const { toJSON } = Object(value ?? {})
  // An invalid Date answers null.
  const json = typeof toJSON === 'function' ? (toJSON.call(value) ?? undefined) : value
  if (json === null || typeof json === 'string' || typeof json === 'boolean' || Number.isFinite(json)) return
  const isList = Array.isArray(json)
  if (!isList && !isPlain(json)) throw new TypeError(`${pointer} must be a JSON value`)
  if (!levels) return
  // The holes of an array too, which forEach and Object.keys pass over.
  for (const name of isList ? json.keys() : Object.keys(json)) {
    const escaped = `${name}`.replace(/~/g, '~0').replace(/\//g, '~1')
    assertJson((json as Record<PropertyKey, unknown>)[name], `${pointer}/${escaped}`, levels - 1)
  }
}

/** An object of no class, also of another window. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
