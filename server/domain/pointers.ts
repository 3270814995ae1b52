/** A pointer is cut where it would be longer (contract: `Fault.pointer`). */
const POINTER_LENGTH = 2000

/** The JSON Pointer (RFC 6901) of what lies at `name` in the value at `parent`; always well-formed. */
export function pointerTo(parent: string, name: string | number): string {
  // Cut before and after: to escape a name of a megabyte takes 10 ms, and a hundred faults may lie under it.
  const start = String(name).slice(0, POINTER_LENGTH)
  return cut(`${parent}/${start.replaceAll('~', '~0').replaceAll('/', '~1')}`).toWellFormed()
}

/** The pointer where it is not too long; else its beginning, without half a character or half an escape at the end. */
function cut(pointer: string): string {
  if (pointer.length <= POINTER_LENGTH) return pointer
  return pointer.slice(0, POINTER_LENGTH).toWellFormed().replace(/~$/, '')
}
