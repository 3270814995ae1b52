import type { Schemas } from '../../client/person.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { listSearch } from '../parts/lists/list-search.ts'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The customers of the workspace, for a `SearchedSelect`: matches by identifier (Cairn's or your own) come first. */
export function useCustomerChoices(): ChoiceSource {
  const cairn = useCairn()
  return {
    key: useWorkspaceKey('customers', 'choices'),
    search: listSearch((query, signal) => taken(cairn.listCustomers({ query, signal })), customerChoice),
    async find(customer_id, signal) {
      try {
        return customerChoice(await taken(cairn.getCustomer({ path: { customer_id }, signal })))
      } catch (error) {
        if (codeOf(error) === 'customer_not_found') return undefined
        throw error
      }
    },
  }
}

/** Names repeat; the type and your identifier together are unique. */
function customerChoice(customer: Schemas['Customer']): Choice {
  const { customer_id, customer_name, customer_type, client_customer_id } = customer
  const name = visibleName(customer_name, customer_id)
  return { value: customer_id, label: `${name} (${customer_type} ${isolated(client_customer_id)})` }
}
