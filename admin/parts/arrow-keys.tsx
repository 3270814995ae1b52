import { Box, Text } from '@mantine/core'
import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'

const focusable = 'a[href], button, input, select, textarea, [tabindex]'

/**
 * A long list that is one stop of the Tab key: within it one goes by the arrow keys, up and down from row to row, to the
 * left and right within one, by Home and End to the first row and the last. Rows are those of a table or the items of a
 * list. What is typed into keeps its own keys; what is chosen from keeps those that choose, up and down.
 */
export function ArrowKeys({ children }: { children: ReactNode }) {
  const list = useRef<HTMLDivElement>(null)
  /** What has the focus, or had it last. */
  const current = useRef<HTMLElement>(null)

  // After every rendering: rows have come or gone.
  useEffect(() => {
    if (!list.current) return
    const observer = new MutationObserver(update)
    observer.observe(list.current, { subtree: true, childList: true })
    update()
    return () => observer.disconnect()

    function update() {
      const all = stops(list.current)
      if (!current.current || !all.includes(current.current)) current.current = all[0] ?? null
      for (const stop of all) stop.tabIndex = stop === current.current ? 0 : -1
    }
  }, [])

  function goTo(stop: HTMLElement | undefined, event: KeyboardEvent) {
    if (!stop) return
    event.preventDefault()
    stop.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    const here = event.target
    if (!(here instanceof HTMLElement) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey)
      return
    const all = stops(list.current)
    // What is open over the list has its own keys, so has a field.
    if (!all.includes(here) || here.matches('input:not([readonly]), select, textarea')) return
    if (here.matches('[aria-haspopup][aria-expanded=true]')) return
    if (here.matches('input') && ['ArrowDown', 'ArrowUp'].includes(event.key)) return
    const rows = rowsOf(all)
    const row = rows.findIndex((stops) => stops.includes(here))
    const place = rows[row]?.indexOf(here) ?? 0
    const at = (stops: HTMLElement[] | undefined) => stops?.[Math.min(place, stops.length - 1)]
    switch (event.key) {
      case 'ArrowDown':
        return goTo(at(rows[row + 1]), event)
      case 'ArrowUp':
        return goTo(at(rows[row - 1]), event)
      case 'ArrowRight':
        return goTo(rows[row]?.[place + 1], event)
      case 'ArrowLeft':
        return goTo(rows[row]?.[place - 1], event)
      case 'Home':
        return goTo(at(rows[0]), event)
      case 'End':
        return goTo(at(rows.at(-1)), event)
    }
  }

  function onFocus({ target }: FocusEvent) {
    if (!(target instanceof HTMLElement) || !stops(list.current).includes(target)) return
    if (current.current) current.current.tabIndex = -1
    target.tabIndex = 0
    current.current = target
  }

  return (
    <Box ref={list} pos="relative" className="arrow-keys" onKeyDown={onKeyDown} onFocus={onFocus}>
      {children}
      <Text className="arrow-keys-hint" size="xs" aria-hidden>
        Arrow keys move within the list
      </Text>
    </Box>
  )
}

/** All that can have the focus and can be seen, in the order of the page; not what is in a menu or a list of choices. */
function stops(list: HTMLElement | null): HTMLElement[] {
  const all = list ? [...list.querySelectorAll<HTMLElement>(focusable)] : []
  return all.filter(
    (stop) =>
      !stop.closest('[role=menu], [role=presentation]') &&
      !stop.matches(':disabled, [type=hidden]') &&
      stop.checkVisibility(),
  )
}

/** By the row or the item that each is in. */
function rowsOf(all: HTMLElement[]): HTMLElement[][] {
  return [...Map.groupBy(all, (stop) => stop.closest('tr, li')).values()]
}
