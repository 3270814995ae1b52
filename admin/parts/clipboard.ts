/**
 * Copies `text`. Rejects if the browser refuses. `neighbour` is the element that has the focus, and gets it back: a
 * dialog takes the focus away from whatever stands outside it.
 */
export async function copyText(text: string, neighbour: HTMLElement | null): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text)
  } catch {
    // Over plain HTTP there is no clipboard, and a browser may refuse it; the older way remains.
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
