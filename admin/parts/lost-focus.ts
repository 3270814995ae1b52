/** What had the focus, and if it is in a row: the row, the rows after it, and those before it from the nearest on. */
type Place = [focused: Element, ...rows: Element[]]

/** The last place in the page, by its body, and in each dialog. */
const places = new WeakMap<Element, Place>()

/**
 * Keeps the place of a keyboard user when a row that has the focus is removed, or its button: the row, the next one or else
 * the previous one receives the focus. If none is left, the heading of the page does, as after “Try again” in an alert. In a
 * dialog it is the dialog itself, whatever is removed. The browser would leave the focus nowhere: nothing is announced, and
 * after a dialog that confirmed the removal the page starts again at its top.
 */
export function keepLostFocus(): void {
  addEventListener('focusin', ({ target }) => {
    // A menu returns the focus to its button.
    if (!(target instanceof Element) || target.closest('[role=menu]')) return
    const row = target.closest('tr, li')
    const rows = [...(row?.parentElement?.children ?? [])]
    const index = row ? rows.indexOf(row) : 0
    const place: Place = [target, ...rows.slice(index), ...rows.slice(0, index).reverse()]
    places.set(target.closest('[role=dialog]') ?? document.body, place)
  })
  // A press beside everything takes the focus away on purpose.
  addEventListener('pointerdown', () => places.delete(document.body))
  new MutationObserver(() => {
    if (document.activeElement !== document.body) return
    const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1)
    const [focused, ...rows] = places.get(dialog ?? document.body) ?? []
    if (!focused || focused.isConnected) return
    const isOfPage = rows.length > 0 || focused.closest('[role=alert]')
    const whole = dialog ?? (isOfPage && document.querySelector('h1'))
    const next = rows.find((row) => row.isConnected) ?? whole
    if (next) takeFocus(next)
  }).observe(document.body, { childList: true, subtree: true })
}

/** Moves the focus to something that may be no control. */
export function takeFocus(element: Element): void {
  if (!(element instanceof HTMLElement)) return
  if (!element.hasAttribute('tabindex')) {
    element.tabIndex = -1
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true })
  }
  element.focus()
}
