/**
 * Returns the fields in which two states differ, before and after; undefined if they are equal. Values are JSON values.
 */
export function changedFields<State extends object>(
  before: State,
  after: State,
): { before: Partial<State>; after: Partial<State> } | undefined {
  const names = (Object.keys(after) as (keyof State)[]).filter((name) => {
    return JSON.stringify(before[name]) !== JSON.stringify(after[name])
  })
  if (names.length === 0) return undefined
  const fieldsOf = (state: State) => {
    return Object.fromEntries(names.map((name) => [name, state[name]])) as Partial<State>
  }
  return { before: fieldsOf(before), after: fieldsOf(after) }
}
