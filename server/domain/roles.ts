import type { components } from '../../generated/contract.ts'
import { Problem } from '../problems.ts'

type Role = components['schemas']['Role']

/** Whether somebody with a role decides about members with another: viewers about none, admins about all but owners. */
export function mayDecide(own: Role, role: Role): boolean {
  return own === 'owner' || (own === 'admin' && role !== 'owner')
}

/**
 * Owners are made, changed and removed by owners alone.
 * @param roles those that the change takes away or gives
 * @throws {Problem} `role_not_allowed`
 */
export function assertMayDecide(own: Role, roles: readonly Role[]): void {
  if (!roles.every((role) => mayDecide(own, role))) {
    throw new Problem('role_not_allowed', {
      detail: 'Ask an owner of the workspace; only owners manage owners.',
    })
  }
}
