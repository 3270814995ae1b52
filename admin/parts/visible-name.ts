/** What nobody sees: blanks, marks of direction and joining, control characters, the empty Braille pattern. */
const INVISIBLE = /[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * A name as a link or a heading shows it. One that consists of blanks alone would be nothing to see or to click, so its
 * identifier stands in its place.
 */
export function visibleName(name: string, id?: string): string {
  if (name.replace(INVISIBLE, '') !== '') return name
  return id ? `(no visible name) ${id}` : '(no visible name)'
}
