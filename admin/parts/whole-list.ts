/** More are not offered in a field to choose from; 20 requests of 500. */
const limitItems = 10_000
/** Pages may be shorter than they were asked for, even empty. */
const limitPages = 100

/** All items of a list that is short by its nature (journeys, members, keys), page after page. */
export async function wholeList<Item>(
  fetchPage: (cursor: string | undefined) => Promise<{ data: Item[]; next_cursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < limitPages && items.length < limitItems; pages += 1) {
    const page = await fetchPage(cursor)
    items.push(...page.data)
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  return items
}
