/** A visible character: not a space, direction or joining mark, control character or blank Braille pattern. */
const SEEN = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** Whether a name has a visible character, as the contract's `GivenName` must. */
export function isVisible(name: string): boolean {
  return SEEN.test(name)
}

/**
 * A name for a link or a heading. A name of spaces alone could not be seen or clicked, so the identifier is shown instead.
 */
export function visibleName(name: string, id?: string): string {
  if (isVisible(name)) return name
  return id ? `(no visible name) ${id}` : '(no visible name)'
}
