// Made by `npm run generate`; do not edit.

/** Method and path of each operation of the contract that a service key opens. */
export const operationPaths = {
  /**
   * Register a customer in a journey
   *
   * Registers the customer that you know as `client_customer_id` and returns its `customer_id`.
   *
   * An idempotent upsert: call it as often as you like. A customer is unique by `customer_type` and
   * `client_customer_id` in your workspace, and keeps its `customer_id` forever, in every journey. A different
   * `customer_name` replaces the previous one. However many first calls arrive at once, one customer is created and
   * one call gets 201.
   *
   * If the workspace protects its customers (`protect_customers`), a publishable key does not replace a name, and
   * the reply is 200 with `created: false` for a new customer too; see [Protected
   * customers](#tag/Service-keys/Protected-customers).
   */
  initializeCustomer: ['POST', '/customers/initialize'],
  /**
   * Store one event
   *
   * Stores one event. The reply comes when the event is on disk: a 2xx means stored and readable.
   *
   * `event_id` is the **name** of what happened, for example `signed_up`; any name is accepted, unless the workspace
   * rejects names without a definition. The customer must have been initialized for the journey before.
   *
   * If the workspace has a definition of the name, `custom_variables` are compared with it. If they do not conform,
   * the event is stored and the reply has `warnings`, or it is rejected with 409 `event_not_as_defined`, as the
   * definition says. Absent, they are compared as `{}`; a string that contains a JSON object, as that object.
   *
   * `message_id` is the idempotency key. With it, a resend is recognized for as long as the event is kept: the same
   * content returns 200 with the first `id` and `received_at`, different content 409 `message_id_conflict` (for some
   * publishable keys 404, see [Protected customers](#tag/Service-keys/Protected-customers)). Content is
   * `journey_id`, `customer_id`, `event_id`, the instant of `occurred_at` (absent equals only absent) and
   * `custom_variables` as a JSON value. The `message_id` is checked before every other rule, so that a resend of an
   * accepted event never fails because, for example, the journey was archived since.
   */
  createEvent: ['POST', '/events/create'],
  /**
   * Store many events at once
   *
   * Stores up to 1000 events, committed together: the reply comes when all events that it reports as created are on
   * disk. Each event has its own result, in the order of the request, and a rejected event never holds back the
   * others. Always `received = created + duplicate + rejected`.
   *
   * A rejected event has the problem that `POST /events/create` would return with 404 or 409, or `event_too_large`:
   * its JSON without insignificant whitespace is longer than 64 KiB. A violation of the contract anywhere rejects
   * the whole batch with 400, and nothing is stored.
   *
   * Each event has its own `warnings`, or the same list in `errors` of its problem. After 1,000 of them in a reply,
   * each further event has only its first.
   *
   * If every event has a `message_id`, you can resend the batch safely: events that were already stored are
   * `duplicate`. Two events of one batch can also share a `message_id`; the second is a resend.
   *
   * A batch counts as many events against the key's rate limit as it contains, and is accepted or rejected as a
   * whole. A batch larger than the key's burst is accepted when the bucket is full; the events after it wait
   * correspondingly longer.
   */
  createEvents: ['POST', '/events/batch'],
  /**
   * List events in order of arrival
   *
   * The events of the workspace in order of arrival, newest first; `id` ascends with arrival. An event is listed
   * from the moment its creation was acknowledged with 2xx.
   *
   * With `order=oldest` the list goes forward, and a program can follow it forever: `next_cursor` is always given,
   * even by an empty page, and the list continues from there, now or in a year. Each event appears once, whatever is
   * stored in the meantime and on whichever replica. With several replicas, or after the clock of one was set back,
   * the order is not exactly that of `id`, and an event may appear with a short delay. `caught_up_to` says whether
   * more events are already available, and if not, up to when the list is complete.
   *
   * Filters are not references: a filter that matches nothing, or an empty time span, gives an empty list.
   */
  listEvents: ['GET', '/events'],
  /**
   * Export events in order of arrival
   *
   * Exports all events that match the filters and were acknowledged before the request began, in order of arrival,
   * one per line as in `listEvents`; see [Exports](#tag/Exports). Events that arrive in the meantime are for the
   * next export, which starts after the `next_cursor` of the last line.
   *
   * A cursor comes from an export, or from `listEvents` with `order=oldest`. Filters are not references: a filter
   * that matches nothing, or an empty time span, gives only the last line.
   */
  exportEvents: ['GET', '/events/export'],
  /**
   * List rejected requests
   *
   * Requests to the operations tagged Ingestion that had a valid key and were rejected for their content, by
   * (`received_at`, `refusal_id`): whole requests, and single events of batches. [What is
   * kept](#tag/Refusals/What-is-kept) has the rules. The list is complete up to the last second, except for requests
   * that another server has received since.
   *
   * Filters are not references: a filter that matches nothing, or an empty time span, gives an empty list. Names are
   * taken from the body, if it has them where the contract defines them. A cursor is valid for the order of
   * its list.
   */
  listRefusals: ['GET', '/refusals'],
  /**
   * Summarize rejected requests
   *
   * Counts refusals by code, field and key, with the first and the last time of each group: what is wrong at a
   * glance, the most frequent first, at most 100 groups. Each group has its latest refusal as an example. The counts
   * include what `left_out` reports. Filters are those of `listRefusals`. With `customer_id` only refusals that are
   * kept are counted, because `left_out` is not counted per customer.
   *
   * `unsaved` has the refusals that are only counted. `kinds` counts everything by what was rejected, in the terms
   * of `getActivity`: its `events` are among the events that are `rejected` there, its `requests` are in no count
   * there, and its `customers` are registrations of customers.
   *
   * `periods` divides the time span into parts of equal length and counts each. Without `received_to` the span ends
   * now; without `received_from` it begins where refusals are removed for their age.
   */
  getRefusalSummary: ['GET', '/refusals/summary'],
  /**
   * Replay rejected requests
   *
   * Sends one refusal, or all that match a filter, oldest first, through the normal checks again; see
   * [Replay](#tag/Refusals/Replay). With `dry_run=true` it only reports what would happen.
   *
   * One call sends up to `limit` refusals, fewer if they are long. `next_cursor` is where the next call continues,
   * with the same body; it is null at the end. Each refusal has a result, which is stored with it: `replayed`, it is
   * stored now (a customer: it is new, or enrolled in the journey now); `duplicate`, it was already stored;
   * `refused`, it was rejected again with the given `code`; `incomplete`, it is kept only in part or without its
   * secrets and cannot be sent. A batch that was rejected as a whole has the result of its worst event. A refusal
   * that is rejected again creates no new refusal and is not counted again.
   *
   * You can repeat a call safely: what is already stored is a duplicate. Every call except a dry run is recorded in
   * the audit log with its filters; of a `customer_id` that Cairn did not assign only that there was one.
   */
  replayRefusals: ['POST', '/refusals/replay'],
  /**
   * Get a refusal
   *
   * Returns one refusal, as in the list.
   */
  getRefusal: ['GET', '/refusals/{refusal_id}'],
  /**
   * Count events over time
   *
   * Exact counts of the events that were sent, by outcome and by the minute, hour or day (UTC) of their arrival:
   * `created` were stored, `duplicate` had already been stored, `rejected` were rejected for what they refer to (404
   * and 409, and the rejected events of a batch). Requests rejected for their form, size, rate or key are not
   * counted.
   *
   * `periods` has every period from `from` to `to`, including those without events. `groups` has totals for the
   * whole span by journey, event name or key. Counts are kept per minute for 8 days, per hour for 400 days and per
   * day forever; `kept_from` says since when they exist at this resolution. Without `from`, the reply covers the
   * last 60 minutes, 24 hours or 30 days up to `to`. If `to` is not after `from`, there is one period: the last one
   * up to `to`. A span of more than 1,440 periods gives 409 `too_many_periods`.
   */
  getActivity: ['GET', '/activity'],
  /**
   * List customers in order of arrival
   *
   * The customers of the workspace by (`created_at`, `customer_id`), newest first. A `search` for an identifier
   * starts with the customers it belongs to, whenever they were created.
   *
   * With `order=oldest` the list goes forward, and a program can follow it forever, like the list of events: each
   * customer appears once, in its current state; a new name does not make it appear again. A `search` then finds the
   * same customers, but ranks none of them first.
   */
  listCustomers: ['GET', '/customers'],
  /**
   * Export customers in order of arrival
   *
   * Exports all customers that match the filters and existed before the request began, in order of arrival, one per
   * line as in `listCustomers`, each in its current state; see [Exports](#tag/Exports). The next export, after the
   * `next_cursor` of the last line, has the customers that have arrived since; a new name does not make a customer
   * appear again.
   *
   * A cursor comes from an export, or from `listCustomers` with `order=oldest`.
   */
  exportCustomers: ['GET', '/customers/export'],
  /**
   * List erasures in order of erasure
   *
   * The customers that were erased, oldest first, so that you can clean copies of their data elsewhere. A program
   * can follow the list forever: `next_cursor` is always given, even by an empty page, and the list continues from
   * there, now or in a year. Each erasure appears once, in its current state, whatever is erased in the meantime and
   * on whichever replica; completing it does not make it appear again.
   *
   * Erased customers are identified only by `customer_id`, which your copies of customers and events also have.
   * After an older backup was restored, start the list from the beginning: its order may have changed.
   */
  listErasures: ['GET', '/customers/erasures'],
  /**
   * Get a customer
   *
   * Returns the current state of a customer.
   */
  getCustomer: ['GET', '/customers/{customer_id}'],
  /**
   * Erase a customer
   *
   * Erases a customer permanently. Once this is acknowledged, nobody can find the customer and nothing is accepted for
   * it: events and resends for it are rejected with 410 `customer_erased`, and so is initializing the same
   * `client_customer_id` with the same type, unless `may_return` allows it. In that case the initialization creates
   * a new customer without a history.
   *
   * The profile and the enrolments are removed at once. The events of any date and the refusals are removed in the
   * background, which takes some minutes if there are millions. Reports are then as if the customer had never
   * existed. Counts of what was sent stay; they identify nobody.
   *
   * What stays is the `customer_id`, by which late arrivals are recognized and copies elsewhere can be cleaned; a
   * keyed digest of the type and `client_customer_id`, unless the customer may return; and, in the audit log, who
   * erased it, when, and how many events it had. Repeating the call returns the same.
   *
   * A server that keeps a file of erasures, so that a restored backup erases again, records this one there before
   * the reply. If it cannot, the reply is the same and the server tries again; `completed_at` is null until then.
   */
  eraseCustomer: ['DELETE', '/customers/{customer_id}'],
  /**
   * List a customer's events, latest first
   *
   * The customer's timeline: its events in all journeys by (`occurred_at`, `id`), latest first. A late arrival
   * appears at the time at which it occurred.
   */
  listCustomerEvents: ['GET', '/customers/{customer_id}/events'],
  /**
   * Export all data of a customer
   *
   * Everything that is kept about one customer in one JSON file, to hand it over: the customer, its standing in each
   * journey, all its events that were acknowledged before the request began in order of arrival, the refusals that
   * name its `customer_id`, and the audit log's entries about it. Of the people and keys in those entries only the
   * kind is given: members and keys are not the customer's data.
   *
   * The file is streamed while it is read and can have any length, see [Exports](#tag/Exports). Each event has a
   * line of its own.
   */
  exportCustomer: ['GET', '/customers/{customer_id}/export'],
  /**
   * List a customer's standing in each journey
   *
   * The journeys that the customer was initialized for, in a stable order, each with the steps that the customer has
   * reached and the event that reached each. [How steps are counted](#tag/Reports/How-steps-are-counted) has the
   * rules.
   */
  listCustomerJourneys: ['GET', '/customers/{customer_id}/journeys'],
  /**
   * List journeys, newest first
   *
   * Returns the journeys of the workspace by (`created_at`, `journey_id`), newest first, including archived ones.
   */
  listJourneys: ['GET', '/journeys'],
  /**
   * Create a journey
   *
   * Creates an active journey. Only `name` is required; you can add steps later.
   */
  createJourney: ['POST', '/journeys'],
  /**
   * Get a journey
   *
   * Returns the current state of a journey.
   */
  getJourney: ['GET', '/journeys/{journey_id}'],
  /**
   * Update a journey
   *
   * Replaces the fields that you send and leaves the others unchanged. `steps` are replaced as a whole. To change
   * the status, archive or restore the journey. Stored events are not touched.
   */
  updateJourney: ['PATCH', '/journeys/{journey_id}'],
  /**
   * Get the contract of a journey
   *
   * An OpenAPI 3.1 document of this server's ingestion for one journey, in which `event_id` and the
   * `custom_variables` of each event are typed; see [The contract of a
   * journey](#tag/Journeys/The-contract-of-a-journey). At most a few concurrent requests per caller, as for
   * [Exports](#tag/Exports).
   */
  getJourneyContract: ['GET', '/journeys/{journey_id}/openapi.yaml'],
  /**
   * Archive a journey
   *
   * An archived journey accepts no new customers and no new events (409 `journey_archived`). Its data stays
   * readable, and resends of stored events are still recognized. Archiving an archived journey changes nothing.
   */
  archiveJourney: ['POST', '/journeys/{journey_id}/archive'],
  /**
   * Restore an archived journey
   *
   * The journey accepts customers and events again. Restoring an active journey changes nothing.
   */
  restoreJourney: ['POST', '/journeys/{journey_id}/restore'],
  /**
   * Report how far customers come in a journey
   *
   * For each step: how many customers have reached it, their share, and how long they took, over all customers that
   * entered the journey in a time span. [How steps are counted](#tag/Reports/How-steps-are-counted) has the rules.
   *
   * `as_of` is the watermark up to which every acknowledged event is in the numbers; it is rarely more than a second
   * old. When the steps of a journey change, everything is recomputed: until that is done, `recomputing` shows the
   * progress, and the numbers and `steps` are those from before the change.
   *
   * `first_step` and `last_step` choose a part of the journey, `step_order=strict` counts only steps that
   * [directly followed the previous one](#tag/Reports/Strict-order), `breakdown` adds the numbers by group, and `compare`
   * adds those of another period. [How groups and periods compare](#tag/Reports/How-groups-and-periods-compare) says
   * when a difference is within chance.
   */
  getJourneyReport: ['GET', '/journeys/{journey_id}/report'],
  /**
   * Report by daily, weekly or monthly cohort
   *
   * The report by cohorts: the customers that entered the journey on the same day, in the same week (from Monday) or
   * in the same month of a time zone. Without `entered_from` the reply begins 30 days, 26 weeks or 24 months before
   * `entered_to`, which is now if absent; the first and the last period are whole. If `entered_to` is not after
   * `entered_from`, there is one period: that of `entered_from`. A day that the time zone skipped has no cohort. A
   * span of more than 400 periods, or 100 with `breakdown`, gives 409 `too_many_periods`.
   *
   * `complete` says which cohorts can be compared: all their customers have entered and, with a `window`, one window
   * has passed since then and nobody is waiting any more. It does not mean that the numbers are final. Without a
   * window, every step can still be reached; with one, customers who have not reached the first step can still
   * begin.
   */
  getJourneyTrend: ['GET', '/journeys/{journey_id}/trend'],
  /**
   * Report how long customers take to reach a step
   *
   * A histogram of the time from the previous step (for the first step, from entry) of the customers that reached a
   * step, in buckets that grow with the time. `times` are exact, as in the report. No customer has reached a step
   * that the journey does not have, or that is outside the part that `first_step` and `last_step` choose.
   */
  getJourneyStepTimes: ['GET', '/journeys/{journey_id}/step-times'],
  /**
   * List customers by their standing in a journey
   *
   * The customers of the journey by `entered_at`, newest entry first, each with the times at which it reached the
   * steps. Those who entered at the same time are in an order that does not change; if the last customer of a page is
   * erased before you request the next one, they may be listed again.
   *
   * The filters are those of the report, so that you can list the customers behind each of its numbers:
   * `reached=1&not_reached=2` are those lost between steps 1 and 2, and with `standing=waiting` those of them who
   * still have time. With a window, reached means within it. `standing` without a window gives 409 `window_missing`.
   * Only the groups `other` and `not_set` of a breakdown have no filter.
   */
  listJourneyCustomers: ['GET', '/journeys/{journey_id}/customers'],
  /**
   * List event definitions, newest first
   *
   * Returns the current definitions of the workspace by (`created_at`, `definition_id`), newest first.
   */
  listEventDefinitions: ['GET', '/event-definitions'],
  /**
   * Define an event
   *
   * Defines the events with a name, as revision 1. From then on every new event with this name is checked, in
   * whatever journey it happens. Stored events are not touched.
   *
   * With `dry_run=true` nothing is stored, the status is 200 instead of 201, and `trial` says how many of the latest
   * stored events with this name do not conform, and which keys sent them.
   */
  defineEvent: ['POST', '/event-definitions'],
  /**
   * Get what the events with a name really look like
   *
   * Returns the fields of `custom_variables` in the latest stored events with a name, whether it is defined or not:
   * how often each is present, its types, and the values of fields with few different ones. From 50 events on it
   * suggests a definition.
   *
   * It is computed from the events that are stored now: what was erased or removed is not in it.
   */
  getObservedEvent: ['GET', '/event-definitions/observed'],
  /**
   * Get an event definition
   *
   * Returns the current state of a definition, with its newest revision.
   */
  getEventDefinition: ['GET', '/event-definitions/{definition_id}'],
  /**
   * Update an event definition
   *
   * Replaces the fields that you send and leaves the others unchanged. A different `description` or `variables`
   * makes a new [revision](#tag/Event-definitions/Revisions); a breaking one needs `confirm_breaking`.
   *
   * With `dry_run=true` nothing is stored, and `trial` says how many of the latest stored events with this name do
   * not conform: try a definition before you set its mode to `enforce`.
   */
  updateEventDefinition: ['PATCH', '/event-definitions/{definition_id}'],
  /**
   * Remove an event definition
   *
   * Removes the definition and its revisions. Events with this name are stored without being checked, unless the
   * workspace warns about unknown names or rejects them. Stored events are not touched.
   */
  removeEventDefinition: ['DELETE', '/event-definitions/{definition_id}'],
  /**
   * List the revisions of an event definition, newest first
   *
   * Returns what a definition said over time, by `revision`, newest first. Each revision says what
   * it changed compared with the one before.
   */
  listEventDefinitionRevisions: ['GET', '/event-definitions/{definition_id}/revisions'],
  /**
   * List webhooks, oldest first
   *
   * Returns the webhooks of the workspace by (`created_at`, `webhook_id`), oldest first. There are at most 20.
   */
  listWebhooks: ['GET', '/webhooks'],
  /**
   * Create a webhook
   *
   * Creates a webhook, which is told what happens from now on. The reply contains its secret, **which is never shown
   * again**.
   *
   * The URL is checked now and at each delivery: `https`, and only public addresses. See
   * [Addresses](#tag/Webhooks/Addresses).
   */
  createWebhook: ['POST', '/webhooks'],
  /**
   * Get a webhook
   *
   * Returns a webhook and the state of its deliveries, without its secret.
   */
  getWebhook: ['GET', '/webhooks/{webhook_id}'],
  /**
   * Update a webhook
   *
   * Replaces the fields that you send and leaves the others unchanged. Filters and types concern what happens, or is
   * read by this webhook, from now on.
   *
   * A disabled webhook keeps its place: enabled again, it is told everything that it has missed, unless you send
   * `skip_missed`.
   *
   * With another `url`, pending messages are sent there at once: failures of the receiver before, and a pause that it
   * has asked for, no longer count.
   */
  updateWebhook: ['PATCH', '/webhooks/{webhook_id}'],
  /**
   * Remove a webhook
   *
   * Removes the webhook with its secret and its deliveries. What it has not been told, it will not be told. The removal
   * of many deliveries takes some seconds; the webhook is disabled first, which the audit log lists by itself.
   */
  removeWebhook: ['DELETE', '/webhooks/{webhook_id}'],
  /**
   * Rotate the secret of a webhook
   *
   * Creates a new secret, **which is never shown again**. For 24 hours every message is signed with the old one too, after
   * the new one, so that no message fails while receivers change; a receiver accepts a message if one signature is valid.
   * If you rotate again within that time, the last three old secrets sign for 24 hours from then.
   */
  rotateWebhookSecret: ['POST', '/webhooks/{webhook_id}/rotate'],
  /**
   * Send a test message
   *
   * Sends a `webhook.test` message now, also to a disabled webhook, and returns how it went. It is not a delivery: it is
   * not repeated, and not listed. Tests of a webhook at the same time are one, with one result.
   */
  testWebhook: ['POST', '/webhooks/{webhook_id}/test'],
  /**
   * Tell a webhook again what happened since an instant
   *
   * Sends every event received, and every customer created, since the instant again, with the same `webhook-id` as the
   * first time, so that receivers recognize what they have. What the webhook has not been told yet is sent too, and
   * everything since then. Messages about journeys, rejections and erasures are not made again: resend those by
   * `resendWebhookDelivery`.
   */
  replayWebhook: ['POST', '/webhooks/{webhook_id}/replay'],
  /**
   * List the deliveries of a webhook, newest first
   *
   * Returns the messages to a webhook by (`created_at`, `delivery_id`), newest first, with the result of the last
   * attempt. They are kept for 30 days.
   */
  listWebhookDeliveries: ['GET', '/webhooks/{webhook_id}/deliveries'],
  /**
   * Send a delivery again
   *
   * Sends a message again, with the same `webhook-id` and content, whether it succeeded or failed. A pending one is due
   * now.
   */
  resendWebhookDelivery: ['POST', '/webhooks/{webhook_id}/deliveries/{delivery_id}/resend'],
  /**
   * List views
   *
   * Returns the views of the workspace and your own by (`created_at`, `view_id`), oldest first. There are at most 100
   * of each.
   */
  listViews: ['GET', '/views'],
  /**
   * Save a view
   *
   * Saves a report of a journey under a name. Several views can have the same name.
   */
  createView: ['POST', '/views'],
  /**
   * Get a view
   *
   * Returns a view of the workspace or one of your own.
   */
  getView: ['GET', '/views/{view_id}'],
  /**
   * Update a view
   *
   * Replaces the fields that you send and leaves the others unchanged; `query` is replaced as a whole. An own view can
   * be given to the workspace. The other way is not possible: others may use it.
   */
  updateView: ['PATCH', '/views/{view_id}'],
  /**
   * Remove a view
   *
   * Removes a view for everybody who sees it.
   */
  removeView: ['DELETE', '/views/{view_id}'],
  /**
   * List how events violated a definition
   *
   * Returns how many events did not conform to a definition, per UTC day, and what was wrong with them, most
   * frequent first. See [Violations over time](#tag/Event-definitions/Violations-over-time) for what is counted.
   */
  listDefinitionViolations: ['GET', '/event-definitions/{definition_id}/violations'],
  /**
   * Preview what a retention period would remove
   *
   * Returns how many events would be removed if the workspace, or one of its journeys, had this retention period
   * now, and when the oldest event that would stay was received. Nothing is changed.
   */
  getRetentionPreview: ['GET', '/retention-preview'],
} as const

/** Method and path of the others: they are for people, who sign in. */
export const personOperationPaths = {
  /**
   * Remove a journey
   *
   * Removes an archived journey permanently, with everything in it. Once this is acknowledged, nobody can find the
   * journey, and what is still sent to it is rejected with 404 `journey_not_found`. Its events, enrolments and
   * refusals are removed in the background, which takes some minutes if there are millions; its reports and its
   * definition go with them. Customers stay, and so do their events in other journeys.
   *
   * Send the journey's current name to confirm that this is the one to remove (otherwise 409 `name_differs`). With
   * `dry_run=true` nothing is removed, and the reply says how much would be.
   *
   * What stays is in the audit log: who changed and removed the journey, when, and how many enrolments and events it
   * had. Counts of what was sent stay, without the names of the journey and of its events.
   */
  removeJourney: ['POST', '/journeys/{journey_id}/remove'],
  /**
   * List the links to a view
   *
   * Returns the links to a view that have not expired, oldest first. There are at most 20. Their tokens are never shown
   * again.
   */
  listViewLinks: ['GET', '/views/{view_id}/links'],
  /**
   * Create a link to a view
   *
   * Creates a link for people without an account. The reply contains its token, **which is never shown again**. The
   * address of the page is `/admin/shared#token=` and the token.
   */
  createViewLink: ['POST', '/views/{view_id}/links'],
  /**
   * Revoke a link to a view
   *
   * Ends a link at once.
   */
  revokeViewLink: ['DELETE', '/views/{view_id}/links/{link_id}'],
  /**
   * Read a view by a link
   *
   * Returns the numbers of the view that a link leads to: the report, and the trend or the times if the view is
   * about these. The token is the only credential. It is for the page that the link leads to: a request that does
   * not come from this server's own pages gets 403 `foreign_origin`. A token that is wrong, expired or revoked, and
   * one whose view, journey or workspace is gone or whose workspace has turned links off, get the same 404.
   */
  readSharedView: ['POST', '/shared-views/read'],
  /**
   * Look up a setup link
   *
   * Returns what a link of `npm start` or `cairn setup-link` is for, before somebody fills in a form. The link is
   * not used up. A link works once, for one hour, and only until the next one is created; afterwards it is not
   * found.
   *
   * The link of an empty store creates a workspace. If a workspace has been created in the meantime (`cairn init`),
   * the link is for that one. It is not found if there are several workspaces without members, or if somebody has
   * been made a member (`cairn member add`).
   */
  findSetupLink: ['POST', '/setup/look-up'],
  /**
   * Check whether the server has been set up
   *
   * Returns whether the server has an account yet, and nothing else about it. A sign-in page uses it to explain that
   * the first account is created by a setup link.
   */
  getSetup: ['GET', '/setup'],
  /**
   * Create the first person and workspace
   *
   * Uses up a setup link: creates the person, who becomes an owner, and the workspace, or takes over the workspace
   * that the link is for. With `journey_name` it also creates an active journey. Either everything is created or
   * nothing. The person is signed in.
   */
  setUp: ['POST', '/setup'],
  /**
   * Sign in
   *
   * Starts a session and sets its cookie (`HttpOnly`, `SameSite=Strict`, behind HTTPS `Secure` and with the prefix
   * `__Host-`). A session ends after 12 hours without a request, and after 14 days in any case. A session that the
   * request carries ends now. A person has at most a hundred sessions; a further one ends the one that was unused
   * for longest.
   *
   * Neither the reply nor its timing reveals whether the email has an account. After several wrong guesses, further
   * attempts must wait (429 `too_many_attempts`), first a second, then longer:
   *
   * | counted | free | longest wait |
   * |---|---|---|
   * | wrong guesses at one account from one address | 5 | 1 minute |
   * | accounts with a wrong guess from the address, within an hour | 30 | 5 minutes |
   * | addresses with a wrong guess at the account, within an hour | 20 | 1 minute |
   *
   * A few addresses therefore delay nobody but themselves, however long they go on: it takes twenty to make new
   * browsers wait. New browsers must wait then, because an account that many addresses guess at is under attack, and
   * without a shared limit each address would have its own guesses. The account's owner is not locked out: a browser
   * that has signed in to the account before has its own count of ten guesses, which others do not affect. It also
   * has its own queue: when more sign-ins arrive than passwords can be compared, the others get 503.
   *
   * A new password, including one that an operator sets with `cairn member set-password`, resets the counts. The
   * addresses of an IPv6 network (64 bits) count as one. A guess that could not be compared because of an outage
   * does not count.
   */
  signIn: ['POST', '/session'],
  /**
   * Get the session
   *
   * Returns the person who is signed in, and their current workspaces.
   */
  getSession: ['GET', '/session'],
  /**
   * Sign out
   *
   * Ends the session at once and removes its cookie.
   */
  signOut: ['DELETE', '/session'],
  /**
   * Change your name
   *
   * Replaces the name of the person who is signed in, as lists show it in all of their workspaces. Existing entries
   * of the audit log keep the earlier name.
   */
  changeName: ['POST', '/session/name'],
  /**
   * Change your password
   *
   * Replaces the password of the person who is signed in, and ends all of their other sessions. A wrong
   * `current_password` counts as a wrong guess at signing in, and is recorded in the audit log.
   */
  changePassword: ['POST', '/session/password'],
  /**
   * List your sessions
   *
   * All sessions of the person who is signed in, at most a hundred, most recently used first. A session shows what
   * the browser calls itself, in two words, but nothing else that would identify a person, and no address (the audit
   * log of the person's workspaces has the address of each sign-in).
   */
  listSessions: ['GET', '/sessions'],
  /**
   * Sign out everywhere
   *
   * Ends all sessions of the person who is signed in, including this one.
   */
  signOutEverywhere: ['DELETE', '/sessions'],
  /**
   * End one of your sessions
   *
   * Ends a session of the person who is signed in at once, in any browser. Ending the session that the request
   * carries is signing out.
   */
  endSession: ['DELETE', '/sessions/{session_id}'],
  /**
   * Create a workspace
   *
   * Creates a workspace and makes the caller its owner. The caller must own an existing workspace, which the request
   * names as usual. If you own none, or if only operators create accounts (`CAIRN_ACCOUNTS=operator`, 403
   * `operators_only`), ask an operator (`cairn init`). A person can create at most twenty (409
   * `too_many_workspaces`): each workspace has its own share of the server, and nobody should get all of it by
   * creating workspaces.
   *
   * Workspace names are unique on a server, because the command line identifies workspaces by name. Whether a name
   * is taken is all that the reply reveals about other workspaces.
   */
  createWorkspace: ['POST', '/workspaces'],
  /**
   * Get the workspace
   *
   * Returns the workspace that the request is about, with its settings.
   */
  getWorkspace: ['GET', '/workspace'],
  /**
   * Update the workspace
   *
   * Replaces the fields that you send: the name or a setting of the workspace that the request is about. Keys, links
   * and sessions stay valid.
   *
   * With `retention_days`, events that were received longer ago are removed, now and from then on; see
   * [Retention](#tag/Workspaces/Retention). `getRetentionPreview` says how many that would be now.
   *
   * `protect_customers` decides whether publishable keys can rename customers and find out who is one; see
   * [Protected customers](#tag/Service-keys/Protected-customers). A change takes effect within a second.
   *
   * `unknown_events` decides what happens to events without a [definition](#tag/Event-definitions).
   *
   * `view_links` decides whether [links to views](#tag/Views/Links) work. Off, they show nothing; on again, those that
   * have not expired do.
   */
  updateWorkspace: ['PATCH', '/workspace'],
  /**
   * Archive the workspace
   *
   * An archived workspace accepts no new customers and no new events: all its journeys behave as if archived (409
   * `journey_archived`). Its data stays readable, resends of stored events are still recognized, and its members,
   * keys and links stay valid. Archiving an archived workspace changes nothing.
   */
  archiveWorkspace: ['POST', '/workspace/archive'],
  /**
   * Restore an archived workspace
   *
   * The workspace accepts customers and events again, in its active journeys. Restoring an active workspace changes
   * nothing.
   */
  restoreWorkspace: ['POST', '/workspace/restore'],
  /**
   * Remove the workspace
   *
   * Removes an archived workspace permanently, with everything in it: customers, journeys, events, reports, counts,
   * refusals, keys, members, invitations and its audit log. Once this is acknowledged, nobody can find the
   * workspace, its keys are unknown, and its name is free; the rest is removed in the background, which takes some
   * minutes if there are millions of events. People keep their accounts and their other workspaces.
   *
   * Send the workspace's current name to confirm that this is the one to remove (otherwise 409 `name_differs`). With
   * `dry_run=true` nothing is removed, and the reply says how much would be.
   *
   * Only its identifier stays in the store. The log of the server records who removed it, and when.
   */
  removeWorkspace: ['POST', '/workspace/remove'],
  /**
   * List members, newest first
   *
   * Returns the members of the workspace by (`joined_at`, `person_id`), newest first.
   */
  listMembers: ['GET', '/members'],
  /**
   * Change a member's role
   *
   * The new role applies from the member's next request. Only owners can make or change owners; the last owner
   * stays.
   */
  updateMember: ['PATCH', '/members/{person_id}'],
  /**
   * Remove a member
   *
   * The person loses access to this workspace at once, and stays a member of others. Only owners can remove owners;
   * the last owner stays.
   */
  removeMember: ['DELETE', '/members/{person_id}'],
  /**
   * Create a link for a new password
   *
   * Creates a one-time link by which the member sets a new password: `/admin/password#token=` followed by the
   * `token` of the reply, which is shown only now. Send it by a channel that only that person reads: anyone who opens
   * it can sign in as that person.
   *
   * It works for an hour, and only until another one is created for the same person, their password is changed, or
   * the role of either person changes. The caller must manage the member in every workspace that the member belongs
   * to, see [Who can create one](#tag/Password-links/Who-can-create-one); only owners can create one for an owner.
   */
  createPasswordLink: ['POST', '/members/{person_id}/password-link'],
  /**
   * List open invitations, newest first
   *
   * Returns the invitations that can still be accepted, by (`created_at`, `invitation_id`), newest first.
   */
  listInvitations: ['GET', '/invitations'],
  /**
   * Invite a person
   *
   * Creates a one-time link for the person with this email: `/admin/invitation#token=` followed by the `token` of
   * the reply, which is shown only now. Send it by a channel that only that person reads; Cairn sends no mail. It
   * works for 7 days, and only until the same email is invited again. Only owners can invite owners.
   */
  createInvitation: ['POST', '/invitations'],
  /**
   * Revoke an invitation
   *
   * Its link is no longer valid.
   */
  revokeInvitation: ['DELETE', '/invitations/{invitation_id}'],
  /**
   * Look up an invitation
   *
   * Returns where the link leads, before it is used. It does not reveal whether the email has an account.
   */
  findInvitation: ['POST', '/invitations/look-up'],
  /**
   * Accept an invitation with a password
   *
   * Makes the person with the invitation's email a member, and signs them in. The link is used up. If the email has
   * no account, one is created with the name and the password. If it has one, the password must be that of the
   * account (401 `sign_in_refused`, counted as a wrong guess at signing in), and the account keeps its name. A
   * person who is already signed in calls `joinWorkspace`.
   *
   * If only the operator creates accounts (`CAIRN_ACCOUNTS=operator`), none is created here, and the reply for an
   * email without an account is that for a wrong password.
   */
  acceptInvitation: ['POST', '/invitations/accept'],
  /**
   * Accept an invitation as the person who is signed in
   *
   * Makes the person who is signed in a member. The invitation must be for their email. The link is used up.
   */
  joinWorkspace: ['POST', '/invitations/join'],
  /**
   * Look up a link for a new password
   *
   * Returns whose password the link is for, before it is used.
   */
  findPasswordLink: ['POST', '/password-links/look-up'],
  /**
   * Set a new password by a link
   *
   * Replaces the password of the person whom the link is for, ends all of their sessions and any waiting time after
   * wrong guesses, and signs them in. The link is used up.
   */
  resetPassword: ['POST', '/password-links/use'],
  /**
   * List service keys, newest first
   *
   * Returns the keys of the workspace by (`created_at`, `key_id`), newest first, including revoked and expired ones.
   * Publishable keys are shown in full; of a secret key only the last four characters are known.
   */
  listServiceKeys: ['GET', '/service-keys'],
  /**
   * Create a service key
   *
   * Creates a key that works at once. The reply has the key itself in `token`; for a secret key, no other reply ever
   * has it. Only a publishable key can have allowed origins, because browsers never hold a secret one.
   */
  createServiceKey: ['POST', '/service-keys'],
  /**
   * Update a service key
   *
   * Replaces the fields that you send and leaves the others unchanged, from the next request with the key; on other
   * servers of the same PostgreSQL store within a second. A key that has ended (revoked, expired, rotated) cannot be
   * changed.
   *
   * Members can set at most the rate limit that the operator allows (`CAIRN_RATE_LIMIT_MAX`). A higher one that an
   * operator has set stays until it is changed.
   */
  updateServiceKey: ['PATCH', '/service-keys/{key_id}'],
  /**
   * Rotate a service key
   *
   * Creates a new key with the same name, kind, origins and rate limit, and lets the old one expire after the grace
   * period, during which both work. The new key does not expire. An old key that would expire earlier keeps its
   * time.
   */
  rotateServiceKey: ['POST', '/service-keys/{key_id}/rotate'],
  /**
   * Revoke a service key
   *
   * Every request with the key that comes to this server after the reply is rejected, permanently. Other servers of
   * the same PostgreSQL store may accept it for another second. A request that a server had admitted before may
   * still store its events; it changes nothing else. Revoking a revoked key changes nothing.
   */
  revokeServiceKey: ['POST', '/service-keys/{key_id}/revoke'],
  /**
   * List the audit log, newest first
   *
   * Returns what members, keys and the command line changed in the workspace, and who signed in, by (`at`, `id`),
   * newest first. Entries never contain a password, a key or the token of a link. Nobody can change or remove them.
   * Cairn itself does so in three cases: the entry of a removal or an erasure gets the number of removed events once
   * it is complete; an erasure removes the customer's name and details from its entries; and with a removed
   * workspace its whole log is removed.
   */
  listAuditLog: ['GET', '/audit-log'],
} as const
