/** For example `1 line`, `2 lines`. @param plural where it is more than an s longer */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
