import { type RefObject, useEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'

/** Whether a screen was shown since the browser loaded the page. */
let hasArrived = false

/**
 * The ref of a screen's heading. After navigation the heading receives focus, as screen readers expect of a new page, and the
 * page scrolls to the top. Back, forward and changes of the query string keep the scroll position.
 * @param takesFocus false if a field of the screen receives focus instead
 */
export function useArrival(takesFocus = true): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname } = useLocation()
  const type = useNavigationType()

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the path is a navigation.
  useEffect(() => {
    const isLoad = !hasArrived && type === 'POP'
    hasArrived = true
    // On a page load the browser starts at the top of the document, before the skip link.
    if (isLoad) return
    if (takesFocus) heading.current?.focus({ preventScroll: true })
    if (type !== 'POP') window.scrollTo(0, 0)
  }, [pathname])
  return heading
}
