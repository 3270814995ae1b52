import type { RefusalRow } from './refusal-table.ts'

/** A customer, by all that a request can call it. */
export type NamedCustomer = { customer_id: string; customer_type: string; client_customer_id: string }

/**
 * Whether a refusal has something about a customer: what was sent names it, by its identifier or by its type and own one;
 * of a batch that was refused as a whole any of its events. Where what was sent cannot be read as JSON, or only its head is
 * kept, its text is searched for the two.
 */
export function isAbout(
  { customer_id, sent }: Pick<RefusalRow, 'customer_id' | 'sent'>,
  customer: NamedCustomer,
): boolean {
  if (customer_id === customer.customer_id) return true
  const names = [customer.customer_id, customer.client_customer_id].map((name) =>
    JSON.stringify(name).slice(1, -1),
  )
  // Characters may be written as escapes in many ways.
  if (!sent.includes('\\') && !names.some((name) => sent.includes(name))) return false
  let body: unknown
  try {
    body = JSON.parse(sent)
  } catch {
    const text = unescaped(sent)
    return [customer.customer_id, customer.client_customer_id].some((name) => text.includes(`"${name}"`))
  }
  const { events } = Object(body)
  return [body, ...(Array.isArray(events) ? events : [])].some((item) => {
    const named: Partial<NamedCustomer> = Object(item)
    if (named.customer_id === customer.customer_id) return true
    if (named.client_customer_id !== customer.client_customer_id) return false
    // Of a wrong type nobody knows whose it was.
    return named.customer_type === customer.customer_type || !TYPES.includes(String(named.customer_type))
  })
}

const TYPES = ['account', 'contact']

/** The text with what JSON writes as escapes. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, digits: string | undefined, character: string) =>
    digits === undefined ? character : String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
