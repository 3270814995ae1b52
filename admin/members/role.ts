import type { Schemas } from '../../client/person.ts'

type Role = Schemas['Role']

/** The label of a role. */
export const roleName: Record<Role, string> = { owner: 'Owner', admin: 'Admin', viewer: 'Viewer' }

/** What a member with the role can do, after "you" or "they". */
export const abilityOf: Record<Role, string> = {
  owner: 'can change everything, including who is an owner',
  admin: 'can change everything except owners and the workspace itself, and cannot remove journeys',
  viewer: 'can view journeys, customers and events, and save views, but not change anything else',
}

/** The role in a sentence: `an owner`. */
export function asRole(role: Role): string {
  return role === 'viewer' ? 'a viewer' : `an ${role}`
}

/** The roles that a member with `role` may grant. Only owners can grant the role of owner. */
export function grantableRoles(role: Role): Role[] {
  if (role === 'owner') return ['owner', 'admin', 'viewer']
  return role === 'admin' ? ['admin', 'viewer'] : []
}

/** Whether a member with `role` may change or remove one with the role `other`. */
export function mayChange(role: Role, other: Role): boolean {
  return grantableRoles(role).includes(other)
}
