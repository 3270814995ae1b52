import {
  type DefinitionDifference,
  definitionDifferences,
  isSameRevision,
  type Verdict,
  verdictOf,
} from '../../domain/definition-changes.ts'
import { printable } from '../table.ts'
import type { Plan, PlannedEvent } from './plan-file.ts'

/** What would have to change in a workspace for it to be as planned. */
export type PlanChange =
  | { kind: 'define'; event_id: string; to: PlannedEvent }
  | {
      kind: 'update'
      event_id: string
      from: PlannedEvent
      to: PlannedEvent
      differences: DefinitionDifference[]
    }
  | { kind: 'remove'; event_id: string }

/** Compares a workspace with a plan. @returns the changes by event name */
export function planChanges(workspace: Plan, plan: Plan): PlanChange[] {
  const names = [...new Set([...workspace.keys(), ...plan.keys()])].sort((a, b) => (a < b ? -1 : 1))
  return names.flatMap((event_id): PlanChange[] => {
    const [from, to] = [workspace.get(event_id), plan.get(event_id)]
    if (!to) return [{ kind: 'remove', event_id }]
    if (!from) return [{ kind: 'define', event_id, to }]
    if (isSameRevision(from, to) && from.mode === to.mode) return []
    return [
      {
        kind: 'update',
        event_id,
        from,
        to,
        differences: definitionDifferences(from.variables, to.variables),
      },
    ]
  })
}

/** The verdict on all changes together. Readers lose what a removed definition says. */
export function verdictOn(changes: readonly PlanChange[]): Verdict {
  if (changes.length === 0) return 'none'
  return changes.some(isBreaking) ? 'breaking' : 'additive'
}

export function isBreaking(change: PlanChange): boolean {
  if (change.kind !== 'update') return change.kind === 'remove'
  return (['senders', 'readers'] as const).some((side) => verdictOf(change.differences, side) === 'breaking')
}

/** A change in words, in one line and one more per difference. */
export function changeText(change: PlanChange): string {
  const name = printable(change.event_id)
  if (change.kind === 'define') return `+ ${name}: new, mode ${change.to.mode}\n`
  if (change.kind === 'remove') return `- ${name}: only in the workspace\n`
  const { from, to, differences } = change
  const parts = [
    ...(from.mode === to.mode ? [] : [`mode ${from.mode} becomes ${to.mode}`]),
    ...(isSameRevision(from, to) ? [] : [isBreaking(change) ? 'a breaking revision' : 'a new revision']),
  ]
  const lines = differences.map(({ pointer, detail, senders, readers }) => {
    const concerned = Object.entries({ senders, readers }).filter(([, verdict]) => verdict === 'breaking')
    const whom =
      concerned.length > 0 ? ` (breaking for ${concerned.map(([side]) => side).join(' and ')})` : ''
    return `    ${printable(pointer) || '/'} ${detail}${whom}\n`
  })
  return `~ ${name}: ${parts.join(', ')}\n${lines.join('')}`
}
