/** A change of a parsed document, in place. */
export type Edit = {
  (document: object): void
  /** The JSON Pointers that it changes. */
  /** Where it changes something, as JSON Pointers. */
  at: string[]
}

/**
 * Sets a value at a JSON Pointer. In a list, a segment selects an element by its value, its `name` or its only key; `-`
 * appends an element.
 */
export function set(pointer: string, value: unknown): Edit {
  return editAt([pointer], (document) => {
    const { parent, key } = locate(document, pointer)
    parent[key] = value
  })
}

export function remove(pointer: string): Edit {
  return editAt([pointer], (document) => {
    const { parent, key } = locate(document, pointer)
    if (!(key in parent)) throw new Error(`nothing at ${pointer}`)
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  })
}

export function copy(from: string, to: string): Edit {
  return editAt([to], (document) => {
    const { parent, key } = locate(document, from)
    if (!(key in parent)) throw new Error(`nothing at ${from}`)
    set(to, structuredClone(parent[key]))(document)
  })
}

/** Renames a member of an object, keeping its position. */
export function rename(pointer: string, name: string): Edit {
  return editAt([pointer], (document) => {
    const { parent, key } = locate(document, pointer)
    if (!(key in parent)) throw new Error(`nothing at ${pointer}`)
    for (const [member, value] of Object.entries(parent)) {
      delete parent[member]
      parent[member === key ? name : member] = value
    }
  })
}

function editAt(at: string[], change: (document: object) => void): Edit {
  return Object.assign(change, { at })
}

function locate(document: object, pointer: string): { parent: Record<string, unknown>; key: string } {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  let parent: unknown = document
  let key = ''
  for (const [index, step] of steps.entries()) {
    if (index > 0) parent = (parent as Record<string, unknown>)[key]
    if (typeof parent !== 'object' || parent === null) throw new Error(`no way to ${pointer}`)
    key = Array.isArray(parent) ? String(indexIn(parent, step)) : step
  }
  return { parent: parent as Record<string, unknown>, key }
}

function indexIn(list: unknown[], step: string): number {
  if (step === '-') return list.length
  const index = list.findIndex((element) => {
    if (typeof element !== 'object' || element === null) return element === step
    return step in element || ('name' in element && element.name === step)
  })
  if (index < 0) throw new Error(`no ${step} in the list`)
  return index
}
