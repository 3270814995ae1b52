// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { contractDocument, operations } from '../fixtures/contract/document.ts'

type Kinds = Record<string, Record<string, unknown>>
type Responses = Record<string, Record<string, Record<string, { responses: Record<string, object> }>>>

/** Under these names are values, for which no generator creates a type or a function. */
const VALUES = ['examples']

// OpenAPI allows these, but not every generator can handle them: some create one type for a parameter and a schema of
// the same name, some create nothing for a success response that is a reference.
describe('the contract can be read by simple generators', () => {
  it('has no two components with the same name, whatever their kinds and letter case', () => {
    const { components } = contractDocument() as { components: Kinds }
    const names = Object.entries(components)
      .filter(([kind]) => !VALUES.includes(kind))
      .flatMap(([, named]) => Object.keys(named).map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, '')))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('has no component under two names', () => {
    const { components } = contractDocument() as { components: Kinds }
    const texts = Object.entries(components).flatMap(([kind, named]) =>
      Object.entries(named).map(
        ([name, component]) => [`${kind}/${name}`, JSON.stringify(component)] as const,
      ),
    )
    const groups = Map.groupBy(texts, ([, text]) => text).values()
    const same = [...groups].map((group) => group.map(([name]) => name)).filter((names) => names.length > 1)
    expect(same).toEqual([])
  })

  it.each(
    operations.map(({ operationId, method, path }) => [operationId, method.toLowerCase(), path] as const),
  )('has every success of %s written out', (_id, method, path) => {
    const { paths } = contractDocument() as Responses
    const replies = Object.entries(paths?.[path]?.[method]?.responses ?? {})
    const successes = replies.filter(([status]) => status.startsWith('2'))
    expect(successes.length).toBeGreaterThan(0)
    for (const [, reply] of successes) expect(Object.keys(reply)).not.toContain('$ref')
  })
})
