/** Returns the name that a part of a JSON pointer stands for (RFC 6901). */
export function nameOfToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
