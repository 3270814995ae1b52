/** Returns for example `1 line` or `2 lines`. @param plural for nouns that do not just add an s */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
