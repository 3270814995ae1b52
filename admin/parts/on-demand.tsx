import { type ComponentType, type ReactNode, useEffect, useState } from 'react'

/**
 * A component whose code is loaded when it is first rendered.
 *
 * Not React's `lazy` in a `Suspense`: what has loaded is shown at the earliest 300 ms after the placeholder, and the page of a
 * journey waits for one part after another.
 * @param load imports the component; if that fails, rendering throws the error
 * @param placeholder shown until it is loaded; nothing by default
 */
export function onDemand<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder: (props: Props) => ReactNode = () => null,
): ComponentType<Props> {
  let loading: Promise<void> | undefined
  let current = placeholder
  return function OnDemand(props) {
    const [show, setShow] = useState(() => current)
    loading ??= load().then(
      (Loaded) => {
        current = (props) => <Loaded {...props} />
      },
      (error) => {
        current = () => {
          throw error
        }
      },
    )
    useEffect(() => void loading?.then(() => setShow(() => current)), [])
    return show(props)
  }
}
