// Made by `npm run generate`; do not edit.

/** Method and path of each operation of the contract that a service key opens. */
export const operationPaths = {
  /**
   * Register a customer in a journey
   *
   * Registers the customer that you know as `client_customer_id` and returns its `customer_id`.
   *
   * An idempotent upsert: call it as often as you like. A customer is unique by `customer_type` and
   * `client_customer_id` in your workspace, and keeps its `customer_id` for ever, in every journey. A different
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
   * `event_id` is the **name** of what happened, for example `signed_up`; any name is accepted. The customer must
   * have been initialized for the journey before.
   *
   * `message_id` is the idempotency key. With it, a resend is recognised for as long as the event is kept: the same
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
   * its JSON without insignificant whitespace is longer than 64 KiB. A fault of form anywhere rejects the whole
   * batch with 400, and nothing is stored.
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
   * With `order=oldest` the list goes forward, and a program can follow it for ever: `next_cursor` is always given,
   * even by an empty page, and the list continues from there, now or in a year. Each event appears once, whatever is
   * stored in the meantime and on whichever replica. With several replicas the order is not exactly that of `id`,
   * and an event may appear with a short delay. `caught_up_to` says whether more events are already available, and
   * if not, up to when the list is complete.
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
   * taken from the body where it has them in the place that the contract gives. A cursor is valid for the order of
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
   * stored now; `duplicate`, it was already stored; `refused`, it was rejected again with the given `code`;
   * `incomplete`, it is kept only in part or without its secrets and cannot be sent. A batch that was rejected as a
   * whole has the result of its worst event. A refusal that is rejected again creates no new refusal and is not
   * counted again.
   *
   * You can repeat a call safely: what is already stored is a duplicate. Every call except a dry run is recorded in
   * the audit log.
   */
  replayRefusals: ['POST', '/refusals/replay'],
  /**
   * Get a refusal
   *
   * Returns one refusal, as the list has it.
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
   * day for ever; `kept_from` says since when they exist at this resolution. Without `from`, the reply covers the
   * last 60 minutes, 24 hours or 30 days up to `to`. A span of more than 1,440 periods gives 409 `too_many_periods`.
   */
  getActivity: ['GET', '/activity'],
  /**
   * List customers in order of arrival
   *
   * The customers of the workspace by (`created_at`, `customer_id`), newest first. A `search` for an identifier
   * starts with the customers it belongs to, whenever they were created.
   *
   * With `order=oldest` the list goes forward, and a program can follow it for ever, like the list of events: each
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
   * can follow the list for ever: `next_cursor` is always given, even by an empty page, and the list continues from
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
   * Erases a customer for good. Once this is acknowledged, nobody can find the customer and nothing is accepted for
   * it: events and resends for it are rejected with 410 `customer_erased`, and so is initializing the same
   * `client_customer_id` with the same type, unless `may_return` allows it. In that case the initialization creates
   * a new customer without a history.
   *
   * The profile and the enrolments are removed at once. The events of any date and the refusals are removed in the
   * background, which takes some minutes if there are millions. Reports are then as if the customer had never
   * existed. Counts of what was sent stay; they identify nobody.
   *
   * What stays is the `customer_id`, by which late arrivals are recognised and copies elsewhere can be cleaned; a
   * keyed digest of the type and `client_customer_id`, unless the customer may return; and, in the audit log, who
   * erased it, when, and how many events it had. Repeating the call returns the same.
   */
  eraseCustomer: ['DELETE', '/customers/{customer_id}'],
  /**
   * List a customer's events, latest first
   *
   * The customer's timeline: its events in all journeys by (`occurred_at`, `id`), latest first. A late arrival takes
   * its place by the time at which it occurred.
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
   * Archive a journey
   *
   * An archived journey accepts no new customers and no new events (409 `journey_archived`). Its data stays
   * readable, and resends of stored events are still recognised. Archiving an archived journey changes nothing.
   */
  archiveJourney: ['POST', '/journeys/{journey_id}/archive'],
  /**
   * Restore an archived journey
   *
   * The journey takes customers and events again. Restoring an active journey changes nothing.
   */
  restoreJourney: ['POST', '/journeys/{journey_id}/restore'],
  /**
   * How far customers come in a journey
   *
   * For each step how many customers have reached it, what part that is, and how long they took; counted as
   * [Reports](#tag/Reports) says, over all who entered the journey in a span of time.
   *
   * `as_of` is the instant up to which every acknowledged event is in the numbers; it is seldom more than a second ago.
   * When the steps of a journey are changed, all is counted anew: until that is done, `recomputing` tells how far it
   * is, and the numbers and `steps` are those from before the change.
   */
  getJourneyReport: ['GET', '/journeys/{journey_id}/report'],
  /**
   * How each day's, week's or month's customers come along
   *
   * The report by cohorts: those who entered the journey on the same day, in the same week (from Monday) or in the
   * same month of a time zone. `complete` is false for a cohort that still may change without anything being late: its
   * period is not over, or the window of one of its customers is open. Without `entered_from` the answer begins 30 days,
   * 26 weeks or 24 months before `entered_to`, which is now where it is absent; the first and the last period are
   * whole. 409 `too_many_periods` where there would be more than 400.
   */
  getJourneyTrend: ['GET', '/journeys/{journey_id}/trend'],
  /**
   * How long customers take from one step to the next
   *
   * How many of those who reached a step took how long from the step before (for the first step from their entry), in
   * classes that grow with the time. `times` are exact, as in the report. A step that the journey has not is reached by
   * nobody.
   */
  getJourneyStepTimes: ['GET', '/journeys/{journey_id}/step-times'],
  /**
   * List who stands where in a journey
   *
   * The customers of the journey by (`entered_at`, `customer_id`), the newest entry first, each with the times at which
   * it reached the steps. Filters are those of the report, so that behind each of its numbers is a list: who was lost
   * between the steps 1 and 2 is `reached=1&not_reached=2`, who waits there `standing=waiting` in addition. With
   * a window, reached means within it. `standing` without a window is 409 `window_missing`.
   */
  listJourneyCustomers: ['GET', '/journeys/{journey_id}/customers'],
  /**
   * What a retention would remove
   *
   * Says how many events would be removed if the workspace, or one journey of it, kept events for so long from now on, and
   * when the oldest event was received that would stay. Nothing is changed.
   */
  getRetentionPreview: ['GET', '/retention-preview'],
} as const

/** Method and path of the others: they are for people, who sign in. */
export const personOperationPaths = {
  /**
   * Remove a journey
   *
   * Removes an archived journey for good, with everything in it. Once this is answered nobody finds it any more, and what
   * is still sent to it is refused with 404 `journey_not_found`. Its events, the enrolments of customers in it, and what was
   * refused of it are removed in the background, which takes some minutes where there are millions; its reports and its
   * definition go with them. Customers stay, and so do their events in other journeys.
   *
   * Say its name, so that no other journey is removed than you mean (409 `name_differs`). With `dry_run=true` nothing is
   * removed, and the answer says how much would go.
   *
   * What stays of it is in the audit log: who has changed and removed it, when, and how many enrolments and events that
   * were. Of what was sent the counts stay, without the name of the journey and of its events.
   */
  removeJourney: ['POST', '/journeys/{journey_id}/remove'],
  /**
   * Look up a setup link
   *
   * Tells what the link of `npm start` or `cairn setup-link` is for, before somebody fills in a form. The link is not used
   * up. A link works once, for one hour, and only until the next one is made; afterwards it is not found.
   *
   * The link of an empty store makes a workspace. Where one has been made meanwhile (`cairn init`), it is for that one; it
   * is not found where there are several without members, or somebody has been made a member (`cairn member add`).
   */
  findSetupLink: ['POST', '/setup/look-up'],
  /**
   * Whether the server has been set up
   *
   * Tells whether the server has an account yet, and nothing else of it. A page for signing in says by it that the first
   * account is made by a setup link.
   */
  getSetup: ['GET', '/setup'],
  /**
   * Create the first person and workspace
   *
   * Uses up a setup link: makes the person, who becomes an owner, and the workspace, or takes the workspace that the link is
   * for. With `journey_name` it makes an active journey too. All of it is made, or nothing. The person is signed in.
   */
  setUp: ['POST', '/setup'],
  /**
   * Sign in
   *
   * Starts a session and sets its cookie (`HttpOnly`, `SameSite=Strict`, behind HTTPS `Secure` and with the prefix `__Host-`).
   * A session ends after 12 hours without a request, and after 14 days in any case. One that the request carries ends now.
   * A person has a hundred at the most: another one ends the one that was not used for longest.
   *
   * Nobody learns from the answer or from its time whether there is an account for the email. After wrong guesses further
   * ones must wait (429 `too_many_attempts`), first a second, then longer:
   *
   * | counted | free | at the longest |
   * |---|---|---|
   * | wrong guesses at one account from one address | 5 | 1 minute |
   * | accounts of which one was guessed wrongly from the address, within an hour | 30 | 5 minutes |
   * | addresses from which the account was guessed wrongly, within an hour | 20 | 1 minute |
   *
   * So a few addresses, however long they go on, hold up nobody but themselves: it takes twenty to make new browsers wait.
   * They must be able to wait, because an account that many addresses guess at is under attack, and without a limit that
   * they share each would have guesses of its own. Its owner goes on in any case: a browser that has signed in to the
   * account before has a count of its own, ten guesses, and nothing that others do counts there. It also has a queue of its
   * own: when more sign-ins arrive than passwords can be compared, the others get 503. A new password, also
   * one that an operator gives with `cairn member set-password`, starts without any. The addresses of an IPv6 network
   * (64 bits) count as one. A guess that an outage kept from being compared does not count.
   */
  signIn: ['POST', '/session'],
  /**
   * Get the session
   *
   * The person who is signed in, and the workspaces of which it is a member now.
   */
  getSession: ['GET', '/session'],
  /**
   * Sign out
   *
   * Ends the session at once and removes its cookie.
   */
  signOut: ['DELETE', '/session'],
  /**
   * Change the own name
   *
   * Replaces the name of the person who is signed in, by which lists show it in all of its workspaces. What the audit log has
   * noted keeps the name of its time.
   */
  changeName: ['POST', '/session/name'],
  /**
   * Change the own password
   *
   * Replaces the password of the person who is signed in, and ends all of its sessions but this one. A wrong
   * `current_password` counts as a wrong guess at signing in, and is in the audit log.
   */
  changePassword: ['POST', '/session/password'],
  /**
   * List the own sessions
   *
   * The sessions of the person who is signed in, the one that was used last first: all of them, a hundred at the most. Of the
   * browser there is what it calls itself, in two words, and nothing else that would tell one person from others; of the
   * address nothing (that of each sign-in is in the audit log of the person's workspaces).
   */
  listSessions: ['GET', '/sessions'],
  /**
   * Sign out everywhere
   *
   * Ends all sessions of the person who is signed in, this one included.
   */
  signOutEverywhere: ['DELETE', '/sessions'],
  /**
   * End one of the own sessions
   *
   * Ends a session of the person who is signed in at once, in whatever browser it is. To end the one that the request carries
   * is to sign out.
   */
  endSession: ['DELETE', '/sessions/{session_id}'],
  /**
   * Make a workspace
   *
   * Makes a workspace, whose owner the caller becomes. It is for owners of a workspace, which the request names as always;
   * who owns none asks an operator (`cairn init`), and so does everybody where only operators make accounts
   * (`CAIRN_ACCOUNTS=operator`, 403 `operators_only`). A person makes twenty at the most (409 `too_many_workspaces`): each
   * has a share of the server of its own, and nobody is to have it all by making workspaces.
   *
   * No two workspaces of a server have the same name, because the command line knows them by it. That a name is taken is
   * all that the answer tells of others.
   */
  createWorkspace: ['POST', '/workspaces'],
  /**
   * The workspace
   *
   * The workspace that the request is about, with its settings.
   */
  getWorkspace: ['GET', '/workspace'],
  /**
   * Change the name or a setting of the workspace
   *
   * Replaces what is given of the workspace that the request is about. Keys, links and sessions go on.
   *
   * With `retention_days` events are removed that were received longer ago, now and from then on; see
   * [Retention](#tag/Workspaces/Retention). `getRetentionPreview` says how many that would be now.
   *
   * `protect_customers` decides whether publishable keys may rename customers and learn who is one; see
   * [Keys](#tag/Service-keys). Requests obey a change within a second.
   */
  updateWorkspace: ['PATCH', '/workspace'],
  /**
   * Archive the workspace
   *
   * An archived workspace takes no new customers and no new events: all its journeys are as if they were archived (409
   * `journey_archived`). What it holds stays readable, resends of what it holds are still recognised, and its members, keys
   * and links go on. Archiving an archived workspace changes nothing.
   */
  archiveWorkspace: ['POST', '/workspace/archive'],
  /**
   * Restore an archived workspace
   *
   * The workspace takes customers and events again, in its journeys that are active. Restoring an active workspace changes
   * nothing.
   */
  restoreWorkspace: ['POST', '/workspace/restore'],
  /**
   * Remove the workspace
   *
   * Removes an archived workspace for good, with everything in it: customers, journeys, events, reports, counts, refusals,
   * keys, members, invitations and its audit log. Once this is answered nobody finds it any more, its keys are unknown, and
   * its name is free; the rest goes in the background, which takes some minutes where there are millions. People keep their
   * accounts and their other workspaces.
   *
   * Say its name, so that no other workspace is removed than you mean (409 `name_differs`). With `dry_run=true` nothing is
   * removed, and the answer says how much would go.
   *
   * Nothing of it stays in the store but its identifier. Who has removed it, and when, is in the log of the server.
   */
  removeWorkspace: ['POST', '/workspace/remove'],
  /**
   * List members, newest first
   *
   * The members of the workspace by (`joined_at`, `person_id`), newest first.
   */
  listMembers: ['GET', '/members'],
  /**
   * Change the role of a member
   *
   * The new role counts from the member's next request. Owners are made and changed by owners alone; the last one stays.
   */
  updateMember: ['PATCH', '/members/{person_id}'],
  /**
   * Remove a member
   *
   * The person can do nothing in this workspace from now on; in others it stays a member. Owners are removed by owners alone;
   * the last one stays.
   */
  removeMember: ['DELETE', '/members/{person_id}'],
  /**
   * Make a link for a new password
   *
   * Makes a one-time link by which the member gets a new password: `/admin/password#token=` and the `token` of the answer,
   * which is shown this once. Send it by a way that only that person reads: whoever opens it can sign in as that person.
   *
   * It works for an hour, and only until the next one is made for the same person, its password is changed, or the role of
   * one of both changes. It is for a member about whom the caller decides in every workspace that the member has; owners
   * get one from owners alone.
   */
  createPasswordLink: ['POST', '/members/{person_id}/password-link'],
  /**
   * List open invitations, newest first
   *
   * The invitations that can still be accepted, by (`created_at`, `invitation_id`), newest first.
   */
  listInvitations: ['GET', '/invitations'],
  /**
   * Invite somebody
   *
   * Makes a one-time link for the person with this email: `/admin/invitation#token=` and the `token` of the answer, which is
   * shown this once. Send it by a way that only that person reads; Cairn sends no mail. It works for 7 days, and only until
   * the same email is invited again. Owners are invited by owners alone.
   */
  createInvitation: ['POST', '/invitations'],
  /**
   * Revoke an invitation
   *
   * Its link works no more.
   */
  revokeInvitation: ['DELETE', '/invitations/{invitation_id}'],
  /**
   * Look up an invitation
   *
   * Tells whoever holds the link where it leads, before it is used. Whether there is an account for the email it does not
   * tell.
   */
  findInvitation: ['POST', '/invitations/look-up'],
  /**
   * Accept an invitation with a password
   *
   * Makes the person with the email of the invitation a member, and signs it in. The link is used up. Where there is no
   * account for the email, one is made, with the name and the password. Where there is one, the password must be its own
   * (401 `sign_in_refused`, counted as a wrong guess at signing in), and its name stays. Who is signed in already calls
   * `joinWorkspace`.
   *
   * Where the operator alone makes accounts (`CAIRN_ACCOUNTS=operator`) none is made here, and an email without one is
   * answered like a wrong password.
   */
  acceptInvitation: ['POST', '/invitations/accept'],
  /**
   * Accept an invitation as the person who is signed in
   *
   * Makes the person who is signed in a member. The invitation must be for its email. The link is used up.
   */
  joinWorkspace: ['POST', '/invitations/join'],
  /**
   * Look up a link for a new password
   *
   * Tells whoever holds the link whose password it is for, before it is used.
   */
  findPasswordLink: ['POST', '/password-links/look-up'],
  /**
   * Set a new password by a link
   *
   * Replaces the password of the person whom the link is for, ends all of its sessions and the waiting after wrong guesses,
   * and signs it in. The link is used up.
   */
  resetPassword: ['POST', '/password-links/use'],
  /**
   * List service keys, newest first
   *
   * The keys of the workspace by (`created_at`, `key_id`), newest first, revoked and expired ones included. A publishable key
   * is shown; of a secret one only the last four characters are known.
   */
  listServiceKeys: ['GET', '/service-keys'],
  /**
   * Create a service key
   *
   * Makes a key that works at once. The answer has the key itself in `token`; of a secret key it is the only one that ever
   * has. Only a publishable key can have allowed origins, because browsers never hold a secret one.
   */
  createServiceKey: ['POST', '/service-keys'],
  /**
   * Change a service key
   *
   * Replaces the fields that are sent and leaves the others; counts from the next request with the key. A key that has ended
   * (revoked, expired, rotated) stays ended and cannot be changed.
   *
   * Members give a key at most the rate that the operator allows (`CAIRN_RATE_LIMIT_MAX`); a higher one that an operator gave
   * stays while it is not changed.
   */
  updateServiceKey: ['PATCH', '/service-keys/{key_id}'],
  /**
   * Replace a service key by a new one
   *
   * Makes a new key with the same name, kind, origins and rate, and lets the old one expire after the grace period, in which
   * both work. The new key has no expiry. An old key that expires earlier anyway keeps its time.
   */
  rotateServiceKey: ['POST', '/service-keys/{key_id}/rotate'],
  /**
   * Revoke a service key
   *
   * The key is refused at once and for ever: every request that comes after the answer. What the key was sending when it
   * was revoked, and the server had let in, may still be saved as an event; it changes nothing else any more. Revoking a
   * revoked key changes nothing.
   */
  revokeServiceKey: ['POST', '/service-keys/{key_id}/revoke'],
  /**
   * List what was done, newest first
   *
   * What members, keys and the command line changed in the workspace, and who signed in, by (`at`, `id`), newest first. It
   * never holds a password, a key or the token of a link. Nothing changes or removes an entry.
   */
  listAuditLog: ['GET', '/audit-log'],
} as const
