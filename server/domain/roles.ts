import type { components } from '../../generated/contract.ts'
import { Problem } from '../problems.ts'

type Role = components['schemas']['Role']

/** Whether a person with a role may manage members with another: viewers none, admins all except owners, owners all. */
export function mayDecide(own: Role, role: Role): boolean {
  return own === 'owner' || (own === 'admin' && role !== 'owner')
}

/**
 * Only owners may add, change and remove owners.
 * @param roles the roles that the change removes or assigns
 * @throws {Problem} `role_not_allowed`
 */
export function assertMayDecide(own: Role, roles: readonly Role[]): void {
  if (!roles.every((role) => mayDecide(own, role))) {
    throw new Problem('role_not_allowed', {
      detail: 'Ask an owner of the workspace; only owners manage owners.',
    })
  }
}
