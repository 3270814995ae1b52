/** Above the contract's limit. For anything deeper JSON.stringify reports a cycle, or the server refuses the depth. */
const mostLevels = 40

/**
 * Refuses values that JSON.stringify would silently change: NaN becomes null, a Map {}, undefined is dropped. A value
 * with `toJSON`, such as a Date, is checked by what that returns.
 *
 * @param pointer position of the value in the body (JSON Pointer)
 * @throws {TypeError} that names the position
 */
export function assertJson(value: unknown, pointer: string, levels = mostLevels): void {
  const { toJSON } = Object(value ?? {})
  // toJSON of an invalid Date returns null.
  const json = typeof toJSON === 'function' ? (toJSON.call(value) ?? undefined) : value
  if (json === null || typeof json === 'string' || typeof json === 'boolean' || Number.isFinite(json)) return
  const isList = Array.isArray(json)
  if (!isList && !isPlain(json)) throw new TypeError(`${pointer} must be a JSON value`)
  if (!levels) return
  // Includes the holes of an array, which forEach and Object.keys skip.
  for (const name of isList ? json.keys() : Object.keys(json)) {
    const escaped = `${name}`.replace(/~/g, '~0').replace(/\//g, '~1')
    assertJson((json as Record<PropertyKey, unknown>)[name], `${pointer}/${escaped}`, levels - 1)
  }
}

/** Whether the value is a plain object, also one from another window. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
