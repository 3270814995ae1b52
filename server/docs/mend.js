// Repairs what no option of Redoc can: the order of headings, and access by keyboard and screen readers. Redoc renders
// parts when they are expanded or found; each is repaired when it appears.

const reference = document.querySelector('#reference')

/** Repairs by selector. Each is idempotent. */
const mends = {
  // They follow the heading of an operation, which has level 2.
  h5: (heading) => heading.setAttribute('aria-level', '3'),

  // Inside a menu entry that the keyboard reaches already.
  '[role="menuitem"] [tabindex]:not(li)': (title) => title.setAttribute('tabindex', '-1'),

  // Its visible text is its name, including the method, and for a group the expanded entries.
  '[role="menuitem"]:has(.operation-type)': (entry) => entry.removeAttribute('aria-label'),

  // Opens the menu on a phone.
  '.menu-content + div': (button) => {
    if (button.role === 'button') return
    button.role = 'button'
    button.tabIndex = 0
    button.ariaLabel = 'Contents'
    button.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      button.click()
    })
  },

  // A table or code in the text. On a phone it is wider than the screen, and scrolls.
  'table:has(> thead), .redoc-markdown > pre': (wide) => {
    wide.tabIndex = 0
  },
}

function mend(element) {
  for (const [selector, change] of Object.entries(mends)) {
    if (element.matches(selector)) change(element)
    for (const inner of element.querySelectorAll(selector)) change(inner)
  }
}

mend(reference)
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof Element) mend(node)
  }
}).observe(reference, { childList: true, subtree: true })
