// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { it } from '../fixtures/it.ts'
import { type Browser, browser, newPerson, signIn, signUp } from '../fixtures/people.ts'

type Who = 'owner' | 'admin' | 'viewer' | 'nobody' | 'stranger'

let workspace: Workspace
let browsers: Record<Who, Browser>

it.beforeAll(async ({ cairn }) => {
  workspace = await cairn.workspace()
  browsers = {
    owner: await signUp(cairn, workspace, 'owner'),
    admin: await signUp(cairn, workspace, 'admin'),
    viewer: await signUp(cairn, workspace, 'viewer'),
    nobody: browser(cairn, await signIn(cairn, await newPerson(cairn))),
    stranger: await signUp(cairn, await cairn.workspace(), 'owner'),
  }
})

const ofWorkspace = operations.filter(({ roles }) => roles !== undefined)

/** Tries the operation with an invalid body. @returns status and code; the role is checked before the body */
async function tryAs(who: Who, { method, path }: { method: string; path: string }) {
  const sent = {
    headers: { 'x-workspace-id': workspace.workspace_id },
    ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
  }
  const reply = await browsers[who].fetch(`${method} ${path.replace(/\{\w+\}/, 'unknown')}`, sent)
  const { code = null } = await reply.json()
  return { status: reply.status, code }
}

describe.each(ofWorkspace.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  (_name, operation) => {
    it.each(['owner', 'admin', 'viewer'] as const)(
      'is for a member in the role %s as the contract says',
      async (role) => {
        const { status, code } = await tryAs(role, operation)
        if (operation.roles?.includes(role)) {
          expect([200, 400, 404], String(code)).toContain(status)
        } else {
          expect({ status, code }).toEqual({ status: 403, code: 'role_not_allowed' })
        }
      },
    )

    it('is not for a person who is not a member', async () => {
      const refused = { status: 403, code: 'not_a_member' }
      expect(await tryAs('nobody', operation)).toEqual(refused)
      expect(await tryAs('stranger', operation)).toEqual(refused)
    })
  },
)
