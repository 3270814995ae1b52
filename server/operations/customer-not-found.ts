import { isId } from '../domain/identifiers.ts'
import { Problem, problems } from '../problems.ts'

/** Returns the problem for a `customer_id` that no customer of the workspace has. */
export function customerNotFound(customerId: string): Problem {
  return new Problem('customer_not_found', { detail: customerNotFoundDetail(customerId) })
}

/** Returns what to change. An identifier that Cairn cannot have assigned is the caller's own. */
export function customerNotFoundDetail(customerId: string): string {
  return isId('cus', customerId)
    ? problems.customer_not_found.detail
    : 'customer_id is what initializeCustomer returned (cus_…), not your own identifier. Send yours as client_customer_id to initializeCustomer, and use the customer_id that it returns.'
}
