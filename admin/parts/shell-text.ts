/** Quotes any text as a single shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
