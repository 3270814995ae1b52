import { createHash } from 'node:crypto'

const names = new Map<string, string>()

/**
 * Returns the name under which a statement is prepared, the same in every session: if a pooler switches sessions
 * unnoticed, a name never stands for another statement.
 * @param text one of few
 */
export function statementName(text: string): string {
  const name = names.get(text) ?? `cairn_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  names.set(text, name)
  return name
}
