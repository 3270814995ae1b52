import type { components } from '../../generated/contract.ts'
import { Problem } from '../problems.ts'

type Role = components['schemas']['Role']

/**
 * Owners are made, changed and removed by owners alone.
 * @param roles those that the change takes away or gives
 * @throws {Problem} `role_not_allowed`
 */
export function assertMayDecide(own: Role, roles: readonly Role[]): void {
  if (own !== 'owner' && roles.includes('owner')) {
    throw new Problem('role_not_allowed', {
      detail: 'Ask an owner of the workspace; only owners decide about owners.',
    })
  }
}
