import type { components } from '../../generated/contract.ts'
import { Problem } from '../problems.ts'

type JourneySteps = components['schemas']['JourneySteps']

/** @throws {Problem} `step_not_unique` if two steps have the same event */
export function assertUniqueSteps(steps: JourneySteps): void {
  const names = new Set(steps.map((step) => step.event_id))
  if (names.size < steps.length) throw new Problem('step_not_unique')
}
