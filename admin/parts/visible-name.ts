/** A visible character: not a space, direction or joining mark, control character or blank Braille pattern. */
const SEEN = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** Whether a name has a visible character, as the contract's `GivenName` must. */
export function isVisible(name: string): boolean {
  return SEEN.test(name)
}

/** The controls of direction, and the ranges of characters that are written from right to left; some of these are not. */
const TURN = /[\u202a-\u202e\u2066-\u2069\u200f\u0590-\u08ff\ufb1d-\ufefc\u{10800}-\u{1efff}]/u

/**
 * Foreign text for a sentence, whose order it does not change: a directional isolate (UAX #9), in which nothing is left that
 * could end it. In `<bdi>` an isolate that the text opens and does not close takes in what follows the element.
 */
export function isolated(text = ''): string {
  return TURN.test(text) ? `\u2068${text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069` : text
}

/**
 * A name for a link or a heading. A name of spaces alone could not be seen or clicked, so the identifier is shown instead.
 * Isolated, for sentences.
 */
export function visibleName(name: string, id?: string): string {
  if (isVisible(name)) return isolated(name)
  return id ? `(no visible name) ${id}` : '(no visible name)'
}
