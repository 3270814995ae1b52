/** Method and path of each operation of the contract. Made by `npm run generate`; do not edit. */
export const operationPaths = {
  /**
   * Register a customer in a journey
   *
   * Registers the customer that you know as `client_customer_id` and answers with its `customer_id`.
   *
   * Call it as often as you like: a customer is unique by `customer_type` and `client_customer_id` in your
   * workspace, and keeps its `customer_id` for ever, in every journey. A different `customer_name` replaces the
   * one before. However many first calls arrive at once, one customer is made and one call answers 201.
   */
  initializeCustomer: ['POST', '/customers/initialize'],
  /**
   * Save an event of a customer in a journey
   *
   * Saves one event. The answer comes when the event is on disk: a 2xx means stored and readable.
   *
   * `event_id` is the **name** of what happened, for example `signed_up`; any name is accepted. The customer must
   * have been initialized for the journey before.
   *
   * With a `message_id` a resend is recognised for as long as the event is kept: the same content answers 200 with
   * the `id` and `received_at` of the first time, other content answers 409 `message_id_conflict`. Content is
   * `journey_id`, `customer_id`, `event_id`, the instant of `occurred_at` (absent equals only absent) and
   * `custom_variables` as a JSON value. Recognition comes before every other rule, so that a resend of what was
   * once accepted never fails because the journey was archived since.
   */
  createEvent: ['POST', '/events/create'],
  /**
   * Save many events at once
   *
   * Saves up to 1000 events, committed together: the answer comes when all that it calls created are on disk. Each
   * event has a result of its own, in the order of the request, and one that is rejected never holds back its
   * neighbours; always `received = created + duplicate + rejected`.
   *
   * A rejected event has the problem that `POST /events/create` would answer with 404 or 409, or
   * `event_too_large`: its JSON without insignificant spaces takes more than 64 KiB. A fault of form anywhere
   * refuses the whole batch with 400, and nothing is stored.
   *
   * With a `message_id` on every event a batch can be sent again without doubt: what was stored before is
   * `duplicate` then. Two events of one batch may have the same `message_id` too; the second is a resend.
   *
   * The batch counts as many as it has events against the key's rate and is taken whole or not at all. One that is
   * larger than the key's burst passes when nothing else has been sent, and the events after it wait the longer.
   */
  createEvents: ['POST', '/events/batch'],
  /**
   * List events, newest arrival first
   *
   * The events of the workspace in the order of their arrival, the newest first; `id` ascends with it. An event is
   * listed from the moment its creation was answered with 2xx.
   *
   * Filters are not references: one that matches nothing, or an empty span of time, gives an empty list.
   */
  listEvents: ['GET', '/events'],
  /**
   * List customers, newest first
   *
   * The customers of the workspace by (`created_at`, `customer_id`), newest first.
   */
  listCustomers: ['GET', '/customers'],
  /**
   * Get a customer
   *
   * The customer as it is now.
   */
  getCustomer: ['GET', '/customers/{customer_id}'],
  /**
   * List a customer's events, latest first
   *
   * The customer's timeline: its events in all journeys by (`occurred_at`, `id`), latest first. An event that
   * arrives late takes its place by the time at which it occurred.
   */
  listCustomerEvents: ['GET', '/customers/{customer_id}/events'],
  /**
   * List journeys, newest first
   *
   * The journeys of the workspace by (`created_at`, `journey_id`), newest first; archived ones included.
   */
  listJourneys: ['GET', '/journeys'],
  /**
   * Create a journey
   *
   * Makes an active journey. Only `name` is needed; steps can come later.
   */
  createJourney: ['POST', '/journeys'],
  /**
   * Get a journey
   *
   * The journey as it is now.
   */
  getJourney: ['GET', '/journeys/{journey_id}'],
  /**
   * Change a journey
   *
   * Replaces the fields that are sent and leaves the others. `steps` are replaced as a whole. The status is
   * changed by archiving and restoring only. Stored events are not touched.
   */
  updateJourney: ['PATCH', '/journeys/{journey_id}'],
  /**
   * Archive a journey
   *
   * An archived journey takes no new customers and no new events (409 `journey_archived`); what it holds stays
   * readable, and resends of what it holds are still recognised. Archiving an archived journey changes nothing.
   */
  archiveJourney: ['POST', '/journeys/{journey_id}/archive'],
  /**
   * Restore an archived journey
   *
   * The journey takes customers and events again. Restoring an active journey changes nothing.
   */
  restoreJourney: ['POST', '/journeys/{journey_id}/restore'],
} as const
