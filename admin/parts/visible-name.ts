/** What can be seen: no blank, mark of direction or joining, control character or empty Braille pattern. */
const SEEN = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** Whether a name has a character that can be seen, as the contract's `GivenName` must. */
export function isVisible(name: string): boolean {
  return SEEN.test(name)
}

/**
 * A name as a link or a heading shows it. One that consists of blanks alone would be nothing to see or to click, so its
 * identifier stands in its place.
 */
export function visibleName(name: string, id?: string): string {
  if (isVisible(name)) return name
  return id ? `(no visible name) ${id}` : '(no visible name)'
}
