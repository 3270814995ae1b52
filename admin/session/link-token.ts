import { type QueryKey, skipToken, useQuery } from '@tanstack/react-query'
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

/** The key of what the server says of the link of this kind that has this token. */
export function linkKey(kind: string, token: string | undefined): QueryKey {
  return ['link', kind, token]
}

/** What the server says of a one-time link, by its token; nothing is asked without one. */
export function useFoundLink<T>(
  kind: string,
  token: string | undefined,
  find: (token: string) => Promise<T>,
) {
  return useQuery({
    queryKey: linkKey(kind, token),
    queryFn: token === undefined ? skipToken : () => find(token),
    // Once it has been used there is nothing to find; that must not replace the page while it works.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}
