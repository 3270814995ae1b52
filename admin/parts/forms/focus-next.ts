import { useEffect, useRef } from 'react'

/** Focuses an element, by its id, after the next rendering: only then it exists, or is in its place. */
export function useFocusNext(): (id: string) => void {
  const next = useRef('')
  useEffect(() => {
    if (!next.current) return
    document.getElementById(next.current)?.focus()
    next.current = ''
  })
  return (id) => {
    next.current = id
  }
}
