import './arrow-keys.css'
import { Box, Text } from '@mantine/core'
import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'

const focusable = 'a[href], button, input, select, textarea, [tabindex]'

/**
 * A long list that is one Tab stop (roving tabindex): the up and down arrows move between rows, left and right within a row,
 * Home and End to the first and last row. Rows are table rows or list items. Text fields keep their own keys; comboboxes keep
 * up and down.
 */
export function ArrowKeys({ children }: { children: ReactNode }) {
  const list = useRef<HTMLDivElement>(null)
  /** The element that has focus, or had it last. */
  const current = useRef<HTMLElement>(null)

  // Rows are added and removed by rendering.
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
    // Overlays above the list and fields have their own keys.
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
        Use the arrow keys to move within the list
      </Text>
    </Box>
  )
}

/** All visible, focusable elements in document order, except those in a menu or a listbox. */
function stops(list: HTMLElement | null): HTMLElement[] {
  const all = list ? [...list.querySelectorAll<HTMLElement>(focusable)] : []
  return all.filter(
    (stop) =>
      !stop.closest('[role=menu], [role=presentation]') &&
      !stop.matches(':disabled, [type=hidden]') &&
      stop.checkVisibility(),
  )
}

/** Grouped by table row or list item. */
function rowsOf(all: HTMLElement[]): HTMLElement[][] {
  return [...Map.groupBy(all, (stop) => stop.closest('tr, li')).values()]
}
