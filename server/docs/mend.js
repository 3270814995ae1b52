// Mends in what Redoc draws what no option of it can: the order of headings, and what the keyboard and screen readers
// reach. Redoc draws parts when they are unfolded or found; each is mended when it comes.

const reference = document.querySelector('#reference')

/** What to do with elements of the document; done again, each changes nothing. */
const mends = {
  // They stand right below the heading of an operation, of level 2.
  h5: (heading) => heading.setAttribute('aria-level', '3'),

  // Within an entry of the menu that is reached already.
  '[role="menuitem"] [tabindex]:not(li)': (title) => title.setAttribute('tabindex', '-1'),

  // What is seen of it is its name: the method too, and of a group what is unfolded.
  '[role="menuitem"]:has(.operation-type)': (entry) => entry.removeAttribute('aria-label'),

  // On a phone it opens the menu.
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

  // A table of the text. On a phone it is wider than the screen, and scrolls.
  'table:has(> thead)': (table) => {
    table.tabIndex = 0
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
