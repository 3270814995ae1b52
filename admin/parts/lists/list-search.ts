import type { Choice, ChoiceSource } from '../forms/searched-select.tsx'
import { type ListPage, nextFound } from './pages.ts'

type ListQuery = { limit: number; search?: string; cursor?: string }

/** The `search` of a source whose options are the items of an API list. */
export function listSearch<Item>(
  list: (query: ListQuery, signal: AbortSignal) => Promise<ListPage<Item>>,
  choiceOf: (item: Item) => Choice,
): ChoiceSource['search'] {
  return async (text, signal) => {
    const query = { limit: 20, ...(text && { search: text }) }
    const { data, next_cursor } = await nextFound(
      (cursor, signal) => list({ ...query, ...(cursor && { cursor }) }, signal),
      signal,
    )
    return [{ items: data.map(choiceOf), hasMore: next_cursor !== null }]
  }
}
