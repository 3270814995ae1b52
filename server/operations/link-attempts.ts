import type { Context } from '../contract.ts'
import { networkOf } from '../domain/addresses.ts'
import { Problem } from '../problems.ts'

/**
 * Returns what the token of a one-time link refers to.
 * @param find returns undefined if the token is unknown
 * @throws {Problem} `link_not_found`; `too_many_attempts` for an address that has guessed too often
 */
export async function foundByLink<Found>(
  { attempts, address }: Context,
  find: () => Promise<Found | undefined>,
): Promise<Found> {
  const found = await attempts.guess([{ by: 'link', value: networkOf(address) }], find)
  if (found === undefined) throw new Problem('link_not_found')
  return found
}
