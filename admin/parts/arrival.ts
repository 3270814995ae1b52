import { type RefObject, useEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'

/** Whether a screen has been shown since the browser loaded the page. */
let hasArrived = false

/**
 * For the heading of a screen: after a navigation it gets the focus, as a screen reader expects of a new page, and
 * the screen begins at its top. Back and forward leave the scroll position alone, so does a change of the query string.
 * @param takesFocus false where a field of the screen has the focus instead
 */
export function useArrival(takesFocus = true): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname } = useLocation()
  const type = useNavigationType()

  // biome-ignore lint/correctness/useExhaustiveDependencies: the path alone is what one arrives at.
  useEffect(() => {
    const isLoad = !hasArrived && type === 'POP'
    hasArrived = true
    // Where the browser loads a page, it begins at the top of the document, before the link that skips the navigation.
    if (isLoad) return
    if (takesFocus) heading.current?.focus({ preventScroll: true })
    if (type !== 'POP') window.scrollTo(0, 0)
  }, [pathname])
  return heading
}
