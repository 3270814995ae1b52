import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'

/**
 * The token of a one-time link, `#token=…`; undefined where the address has none. It is taken out of the address bar
 * and the history, where others could find it.
 */
export function useLinkToken(): string | undefined {
  const { hash } = useLocation()
  const given = new URLSearchParams(hash.slice(1)).get('token') ?? undefined
  const [token, setToken] = useState(given)
  // Somebody pasted another link into the same tab.
  if (given !== undefined && given !== token) setToken(given)

  useEffect(() => {
    if (given !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  }, [given])
  return token
}
