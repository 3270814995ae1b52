import { type QueryKey, skipToken, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { codeOf } from '../problem.ts'

/**
 * The token of a one-time link, `#token=…`; undefined without one. It is removed from the address bar and the history, where
 * others could find it.
 */
export function useLinkToken(): string | undefined {
  const { hash } = useLocation()
  const given = new URLSearchParams(hash.slice(1)).get('token') || undefined
  const [token, setToken] = useState(given)
  // Somebody pasted another link into the same tab.
  if (given !== undefined && given !== token) setToken(given)

  useEffect(() => {
    if (given !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  }, [given])
  return token
}

/** Whether a look-up found no link: the token is unknown, or longer than any that the contract allows. */
export function isNoLink(error: unknown): boolean {
  return ['link_not_found', 'invalid_request'].includes(codeOf(error) ?? '')
}

/** The query key of a one-time link. */
export function linkKey(kind: string, token: string | undefined): QueryKey {
  return ['link', kind, token]
}

/** Looks up a one-time link by its token; does nothing without a token. */
export function useFoundLink<T>(
  kind: string,
  token: string | undefined,
  find: (token: string) => Promise<T>,
) {
  return useQuery({
    queryKey: linkKey(kind, token),
    queryFn: token === undefined ? skipToken : () => find(token),
    // Never refetched: a used link is not found, and that must not replace the page while it is submitting.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}
