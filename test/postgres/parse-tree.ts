/** A node of PostgreSQL's parse tree, as `debug_print_parse` prints it (src/backend/nodes/outfuncs.c). */
export type ParseNode = { type: string; fields: Record<string, ParseValue> }
export type ParseValue = ParseNode | ParseValue[] | string

/** Parses the text of a tree. */
export function parseTree(text: string): ParseValue {
  const tokens = text.match(/[{}()[\]]|(?:\\[\s\S]|[^\s{}()[\]\\])+/g) ?? []
  let at = 0
  const value = (): ParseValue => {
    const token = tokens[at++] ?? ''
    if (token === '{') return node()
    if (token === '(') return untilToken(')')
    if (token === '[') return untilToken(']')
    return token
  }
  const untilToken = (end: string): ParseValue[] => {
    const values: ParseValue[] = []
    while (at < tokens.length && tokens[at] !== end) values.push(value())
    at += 1
    return values
  }
  const node = (): ParseNode => {
    const type = tokens[at++] ?? ''
    const fields: ParseNode['fields'] = {}
    while (at < tokens.length && tokens[at] !== '}') {
      const name = (tokens[at++] ?? '').slice(1)
      const values: ParseValue[] = []
      while (at < tokens.length && tokens[at] !== '}' && !tokens[at]?.startsWith(':')) values.push(value())
      fields[name] = values.length === 1 ? (values[0] ?? '') : values
    }
    at += 1
    return { type, fields }
  }
  return value()
}

export function isNode(value: ParseValue | undefined): value is ParseNode {
  return typeof value === 'object' && !Array.isArray(value)
}

/** Returns all nodes of a value in order, itself included; not those for which `enters` is false. */
export function* nodesOf(value: ParseValue, enters: (node: ParseNode) => boolean): Generator<ParseNode> {
  if (Array.isArray(value)) for (const inner of value) yield* nodesOf(inner, enters)
  if (!isNode(value) || !enters(value)) return
  yield value
  for (const inner of Object.values(value.fields)) yield* nodesOf(inner, enters)
}
