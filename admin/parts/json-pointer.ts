/** Returns the JSON Pointer (RFC 6901) to a field of the value at a pointer. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the names on the way to the value at a JSON Pointer; none at the whole value. */
export function namesIn(pointer: string): string[] {
  return pointer.split('/').slice(1).map(nameOfToken)
}

/** Returns the name that a part of a JSON Pointer stands for. */
function nameOfToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
