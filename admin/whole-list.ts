/** More are not offered in a field to choose from; 20 requests of 500. */
const limitItems = 10_000

/** All items of a list that is short by its nature (journeys, members, keys), page after page. */
export async function wholeList<Item>(
  fetchPage: (cursor: string | undefined) => Promise<{ data: Item[]; next_cursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await fetchPage(cursor)
    items.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor && items.length < limitItems)
  return items
}
