// What the compiler makes of the types that foreign generators take from a journey's contract (dist/journey.yaml).

/** @typedef {import('./dist/journey-hey-api/index.ts').EventCreation} HeyApiEvent */
/** @typedef {import('./dist/journey-orval.ts').EventCreation} OrvalEvent */

/** @param {HeyApiEvent['journey_id'] & OrvalEvent['journey_id']} journey_id */
export function events(journey_id) {
  const ids = { journey_id, customer_id: 'cus_1' }

  for (const take of [heyApi, orval]) {
    take({ ...ids, event_id: 'signed_up' })
    take({ ...ids, event_id: 'signed_up', custom_variables: { what: 'ever' } })
    take({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team', cart: [{ sku: 'a' }] } })
    take({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'free', seats: null, meta: { a: 1 } } })
    take({ ...ids, event_id: 'invoice "paid" 🎉' })
  }

  // @ts-expect-error: a misspelt name
  heyApi({ ...ids, event_id: 'plan_choosen', custom_variables: { plan: 'team' } })
  // @ts-expect-error: a field that is not defined
  heyApi({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team', seat: 1 } })
  // @ts-expect-error: a value that is not defined
  heyApi({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'gold' } })
  // @ts-expect-error: a missing field
  heyApi({ ...ids, event_id: 'plan_chosen', custom_variables: { seats: 1 } })
  // @ts-expect-error: without its variables
  heyApi({ ...ids, event_id: 'plan_chosen' })
  // @ts-expect-error: another journey
  heyApi({ ...ids, journey_id: 'jrn_other', event_id: 'signed_up' })

  // @ts-expect-error: a misspelt name
  orval({ ...ids, event_id: 'plan_choosen', custom_variables: { plan: 'team' } })
  // @ts-expect-error: a field that is not defined
  orval({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team', seat: 1 } })
  // @ts-expect-error: a value that is not defined
  orval({ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'gold' } })
  // @ts-expect-error: a missing field
  orval({ ...ids, event_id: 'plan_chosen', custom_variables: { seats: 1 } })
  // @ts-expect-error: without its variables
  orval({ ...ids, event_id: 'plan_chosen' })
  // @ts-expect-error: another journey
  orval({ ...ids, journey_id: 'jrn_other', event_id: 'signed_up' })
}

/** @param {HeyApiEvent} _event */
function heyApi(_event) {}

/** @param {OrvalEvent} _event */
function orval(_event) {}
