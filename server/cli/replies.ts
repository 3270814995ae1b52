import type { Problem } from '../../client/index.ts'
import { CommandFailure } from './failure.ts'

type Reply<Data> = { data?: Data | undefined; error?: Problem | undefined }

/** Maximum items per page of a list. */
export const PAGE = 500

/** Reads all pages of a list. @throws {CommandFailure} if the server refused a request */
export async function allItems<Item>(
  read: (query: {
    limit: number
    cursor?: string
  }) => Promise<Reply<{ data: Item[]; next_cursor: string | null }>>,
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = dataOf(await read({ limit: PAGE, ...(cursor && { cursor }) }))
    items.push(...page.data)
    cursor = page.next_cursor
  }
  return items
}

/** @throws {CommandFailure} if the server refused the request */
export function dataOf<Data>(answer: Reply<Data>): NonNullable<Data> {
  const { data, error } = answer
  if (data !== undefined && data !== null) return data
  throw new CommandFailure(`refused: ${error?.detail} (${error?.code})`)
}
