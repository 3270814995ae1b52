import { useQuery } from '@tanstack/react-query'
import type { ChoiceSource } from '../parts/forms/searched-select.tsx'

/**
 * The text of a chip for an identifier in the address: the name once it has loaded, or the identifier if it does not exist.
 */
export function useChipText(source: ChoiceSource, value: string): string {
  const { data } = useQuery({
    queryKey: [...source.key, 'chosen', value],
    queryFn: async ({ signal }) => (await source.find(value, signal)) ?? null,
    enabled: value !== '',
    staleTime: 60_000,
  })
  return data?.label ?? value
}
