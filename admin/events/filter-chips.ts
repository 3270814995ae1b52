import { useQuery } from '@tanstack/react-query'
import type { ChoiceSource } from '../parts/searched-select.tsx'

/**
 * What a chip says of something that the address names by its identifier: its name once that is known, the identifier where
 * there is no such thing.
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
