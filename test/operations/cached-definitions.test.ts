// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { EventChecks } from '../../server/operations/event-checks.ts'
import type { CheckedDefinitions } from '../../server/storage/tables/event-definitions.ts'

const REQUIRED = JSON.stringify({ type: 'object', properties: { plan: {} }, required: ['plan'] })

/** Checks whose definitions are loaded from `stored`; `loads` has the workspaces that were loaded, in order. */
function newChecks({ cachedBytes }: { cachedBytes?: number } = {}) {
  const stored = new Map<string, CheckedDefinitions>()
  const loads: string[] = []
  const gates: (() => void)[] = []
  const scene = { isHeld: false }
  const checks = new EventChecks({
    async load(workspaceId) {
      loads.push(workspaceId)
      const read = stored.get(workspaceId)
      if (scene.isHeld) await new Promise<void>((resolve) => gates.push(resolve))
      if (!read) throw new Error('no such workspace')
      return read
    },
    pause: async () => {},
    now: () => 0,
    ...(cachedBytes && { cachedBytes }),
  })
  const define = (workspaceId: string, changes: number, ...names: string[]) => {
    const definitions = names.map((event_id) => ({
      definition_id: `def_${event_id}`,
      event_id,
      revision: 1,
      mode: 'warn' as const,
      variables: REQUIRED,
    }))
    stored.set(workspaceId, { changes, unknown_events: 'allow', definitions })
  }
  /** Sends an event that is not as a definition says. @returns whether it was checked */
  const isChecked = async (workspaceId: string, changes: number | undefined) => {
    const [checked] = await checks.check(workspaceId, changes, [{ event_id: 'signed_up' }])
    return checked !== undefined
  }
  return { loads, gates, scene, define, isChecked }
}

describe('the cache of definitions', () => {
  it('reads nothing for a workspace that never defined anything', async () => {
    const { isChecked, loads } = newChecks()
    expect(await isChecked('a', 0)).toBe(false)
    expect(loads).toEqual([])
  })

  it('reads a workspace once, until it has changed', async () => {
    const { define, isChecked, loads } = newChecks()
    define('a', 1, 'signed_up')
    expect([await isChecked('a', 1), await isChecked('a', 1)]).toEqual([true, true])
    define('a', 2)
    expect(await isChecked('a', 1)).toBe(true)
    expect(await isChecked('a', 2)).toBe(false)
    // A key that was read before the change.
    expect(await isChecked('a', 1)).toBe(false)
    expect(loads).toEqual(['a', 'a'])
  })

  it('reads each time for a caller who does not know of changes', async () => {
    const { define, isChecked, loads } = newChecks()
    define('a', 1, 'signed_up')
    expect(await isChecked('a', undefined)).toBe(true)
    define('a', 2)
    expect(await isChecked('a', undefined)).toBe(false)
    expect(loads).toEqual(['a', 'a'])
  })

  it('shares a read among requests, but not one that began before the change that they know of', async () => {
    const { define, isChecked, loads, gates, scene } = newChecks()
    define('a', 1, 'signed_up')
    scene.isHeld = true
    const before = [isChecked('a', 1), isChecked('a', 1)]
    expect(loads).toEqual(['a'])
    define('a', 2)
    const after = [isChecked('a', 2), isChecked('a', 2)]
    scene.isHeld = false
    for (const open of gates) open()
    expect(await Promise.all(before)).toEqual([true, true])
    expect(await Promise.all(after)).toEqual([false, false])
    expect(loads).toEqual(['a', 'a'])
  })

  it('refuses what cannot be checked, and reads again the next time', async () => {
    const { define, isChecked, loads } = newChecks()
    await expect(isChecked('a', 1)).rejects.toThrow('no such workspace')
    define('a', 1, 'signed_up')
    expect(await isChecked('a', 1)).toBe(true)
    expect(loads).toEqual(['a', 'a'])
  })

  it('drops the workspaces that were used least recently', async () => {
    const { define, isChecked, loads } = newChecks({ cachedBytes: 1_500 })
    for (const name of ['a', 'b', 'c', 'd']) define(name, 1, 'signed_up')
    for (const name of ['a', 'b', 'a', 'c', 'd', 'a', 'c', 'd', 'b']) await isChecked(name, 1)
    expect(loads).toEqual(['a', 'b', 'c', 'd', 'b'])
  })

  it('lets other requests run while a long batch is checked', async () => {
    let pauses = 0
    const names = Array.from({ length: 100 }, (_, index) => `field_${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { format: 'uri' }]))
    const variables = JSON.stringify({ type: 'object', properties })
    const long = new EventChecks({
      load: async () => ({
        changes: 1,
        unknown_events: 'allow',
        definitions: [
          { definition_id: 'def_1', event_id: 'signed_up', revision: 1, mode: 'warn', variables },
        ],
      }),
      pause: async () => {
        pauses += 1
      },
      now: () => 0,
    })
    const custom_variables = Object.fromEntries(
      names.map((name) => [name, `https://x.example/${'a'.repeat(400)}`]),
    )
    const events = Array.from({ length: 100 }, () => ({ event_id: 'signed_up', custom_variables }))
    expect(await long.check('a', 1, events)).toHaveLength(100)
    expect(pauses).toBeGreaterThan(0)
  })
})
