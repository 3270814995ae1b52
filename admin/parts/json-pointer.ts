/** Returns the JSON Pointer (RFC 6901) to a field of the value at a pointer. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the name that a part of a JSON Pointer stands for. */
export function nameOfToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
