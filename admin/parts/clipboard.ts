/**
 * Copies `text`. Rejects if the browser refuses. `neighbour` is the focused element: the temporary field is placed after it,
 * because a dialog takes focus away from anything outside of it, and focus returns to it.
 */
export async function copyText(text: string, neighbour: HTMLElement | null): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text)
  } catch {
    // Plain HTTP has no clipboard API, and a browser may refuse it; fall back to execCommand.
  }
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  neighbour?.after(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  neighbour?.focus()
  if (!isCopied) throw new Error('The browser refused to copy')
}
