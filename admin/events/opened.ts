import { useSearchParams } from 'react-router'

/** What of a list is open beside it, by its identifier in the address: to be handed on, and closed by the way back. */
export function useOpened(name: 'event' | 'refusal') {
  const [parameters, setParameters] = useSearchParams()

  function change(id: string, replace: boolean, others: Record<string, string> = {}) {
    // Not the parameters of the last rendering, as in `useFilters`.
    const current = new URLSearchParams(location.search)
    for (const [other, value] of Object.entries(others)) current.set(other, value)
    if (id) current.set(name, id)
    else current.delete(name)
    setParameters(current, { replace, preventScrollReset: true })
  }

  return {
    openedId: parameters.get(name) ?? '',
    open: (id: string) => change(id, false),
    move: (id: string) => change(id, true),
    /** @param others parameters to set with it */
    close: (others?: Record<string, string>) => change('', true, others),
  }
}
