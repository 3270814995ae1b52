import { hash } from 'node:crypto'

const names = new Map<string, string>()

/**
 * Returns the name under which a statement is prepared, the same in every session: if a pooler switches sessions
 * unnoticed, a name never stands for another statement.
 * @param text one of few
 */
export function statementName(text: string): string {
  const name = names.get(text) ?? `cairn_${hash('sha256', text).slice(0, 32)}`
  names.set(text, name)
  return name
}
