/** Rows under each other, each column as wide as its widest cell. */
export function columns(texts: string[][]): string {
  const rows = texts.map((row) => row.map(printable))
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** A text as one word of a shell's command. */
export function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A text that a terminal shows as it is: what would move its cursor, colour it or turn the direction is spelled out. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
