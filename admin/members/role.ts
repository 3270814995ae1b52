import type { Schemas } from '../../client/person.ts'

type Role = Schemas['Role']

/** How a role is called where it stands alone. */
export const roleName: Record<Role, string> = { owner: 'Owner', admin: 'Admin', viewer: 'Viewer' }

/** What a member with the role can do, after "you" or "they". */
export const abilityOf: Record<Role, string> = {
  owner: 'can change everything, and decide who is an owner',
  admin: 'can change journeys, keys and members, except owners',
  viewer: 'can see journeys, customers and events, and change nothing',
}

/** The role in a sentence: `an owner`. */
export function asRole(role: Role): string {
  return role === 'viewer' ? 'a viewer' : `an ${role}`
}

/** The roles that somebody with `role` may give to others. Owners are made by owners alone. */
export function grantableRoles(role: Role): Role[] {
  if (role === 'owner') return ['owner', 'admin', 'viewer']
  return role === 'admin' ? ['admin', 'viewer'] : []
}

/** Whether somebody with `role` may change or remove a member who has `other` now. */
export function mayChange(role: Role, other: Role): boolean {
  return grantableRoles(role).includes(other)
}
