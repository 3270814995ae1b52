/** Formats rows as a table, each column as wide as its widest cell. */
export function columns(texts: string[][]): string {
  const rows = texts.map((row) => row.map(printable))
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** Quotes a text as one word for a shell. */
export function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Escapes what would move a terminal's cursor, colour the text or change its direction. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Returns for example `1 line` or `2 lines`. @param plural for nouns that do not just add an s */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
