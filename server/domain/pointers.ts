/** Maximum length of a pointer; a longer one is truncated (contract: `Fault.pointer`). */
const POINTER_LENGTH = 2000

/** Returns the JSON Pointer (RFC 6901) of the member `name` of the value at `parent`; always well-formed. */
export function pointerTo(parent: string, name: string | number): string {
  // Truncated before and after escaping: to escape a name of a megabyte takes 10 ms, and a hundred faults may be below
  // it.
  const start = String(name).slice(0, POINTER_LENGTH)
  return cut(`${parent}/${start.replaceAll('~', '~0').replaceAll('/', '~1')}`).toWellFormed()
}

/** Truncates a pointer if it is too long, without leaving half a character or half an escape at the end. */
function cut(pointer: string): string {
  if (pointer.length <= POINTER_LENGTH) return pointer
  return pointer.slice(0, POINTER_LENGTH).toWellFormed().replace(/~$/, '')
}
