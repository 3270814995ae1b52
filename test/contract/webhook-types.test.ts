// engines: none (looks at the contract only)

import { expect, it } from 'vitest'
import { contractDocument } from '../fixtures/contract/document.ts'

type Message = { properties: { type: { const: string } } }
type Body = { content: { 'application/json': { schema: { $ref: string } } } }

const { tags, webhooks, components } = contractDocument() as unknown as {
  tags: { name: string; description: string }[]
  webhooks: Record<string, { post: { requestBody: Body } }>
  components: { schemas: Record<string, Message> }
}

it('The manual of webhooks lists every type of message, once', () => {
  const sent = Object.values(webhooks).map(({ post }) => {
    const { $ref } = post.requestBody.content['application/json'].schema
    return components.schemas[$ref.slice('#/components/schemas/'.length)]?.properties.type.const
  })
  const manual = tags.find(({ name }) => name === 'Webhooks')?.description ?? ''
  const table = /\| type \| sent when \|\n((?:\|.*\n)*)/.exec(manual)?.[1] ?? ''
  const listed = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/[\w.]+\.\w+/g) ?? [])
  expect(listed.sort()).toEqual(sent.sort())
})
