// Made by `npm run generate`; do not edit.

/** Method and path of each operation of the contract that a service key opens. */
export const operationPaths = {
  /**
   * Register a customer in a journey
   *
   * Registers the customer that you know as `client_customer_id` and answers with its `customer_id`.
   *
   * Call it as often as you like: a customer is unique by `customer_type` and `client_customer_id` in your
   * workspace, and keeps its `customer_id` for ever, in every journey. A different `customer_name` replaces the
   * one before. However many first calls arrive at once, one customer is made and one call answers 201.
   *
   * Where the workspace protects its customers (`protect_customers`), a publishable key does not replace a name, and the
   * answer is 200 with `created: false` for a new customer too; see [Keys](#tag/Service-keys).
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
   * the `id` and `received_at` of the first time, other content answers 409 `message_id_conflict` (for some publishable keys
   * 404, see [Keys](#tag/Service-keys)). Content is
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
   * List events in the order of arrival
   *
   * The events of the workspace in the order of their arrival, the newest first; `id` ascends with it. An event is
   * listed from the moment its creation was answered with 2xx.
   *
   * With `order=oldest` the list goes forward, and a program can follow it for ever: `next_cursor` is always given,
   * also by an empty page, and from there the list goes on, now or in a year. Each event comes once, whatever is stored
   * meanwhile and on whichever replica; with several replicas not quite in the order of `id`, and not in the first
   * moment. `caught_up_to` says whether more is there already, and if not, up to when nothing is missing.
   *
   * Filters are not references: one that matches nothing, or an empty span of time, gives an empty list.
   */
  listEvents: ['GET', '/events'],
  /**
   * Export events in the order of arrival
   *
   * All events that the filters let through and that were acknowledged before the request began, in the order of their
   * arrival, as [Exports](#tag/Exports) says: one a line, as `listEvents` has them. What arrives meanwhile is for the
   * next export, which begins behind the `next_cursor` of the last line.
   *
   * A cursor is one of an export, or of `listEvents` with `order=oldest`. Filters are not references: one that matches
   * nothing, or an empty span of time, gives the last line alone.
   */
  exportEvents: ['GET', '/events/export'],
  /**
   * List what was refused
   *
   * What was sent to the operations tagged Ingestion with a valid key and refused for its content, by (`received_at`,
   * `refusal_id`), as [What was refused](#tag/Refusals) says: requests as a whole, and single events of
   * batches. The last second is complete but for what another server has taken meanwhile.
   *
   * Filters are not references: one that matches nothing, or an empty span of time, gives an empty list. Names are those
   * that the body has, as far as it has them in the way of the contract. A cursor holds for the order of its list.
   */
  listRefusals: ['GET', '/refusals'],
  /**
   * Add up what was refused
   *
   * How many refusals are kept by code, field and key, since when, and when the last one came: what is wrong at a glance,
   * the most frequent first, at most 100 groups. Each has the last refusal of it as an example. The counts have what is
   * told by `left_out` as well. Filters are those of `listRefusals`. With `customer_id` only refusals that are kept are
   * counted: what is left out is not counted by customer.
   *
   * `unsaved` has refusals of which nothing is kept but their number. `kinds` counts everything by what was refused, in the
   * terms of `getActivity`: its `events` are among the events that are `rejected` there, its `requests` are in no number
   * there, and its `customers` are registrations of customers.
   *
   * `periods` cuts the span in parts of equal length and tells how many came in each. The span ends now where there is no
   * `received_to`, and begins where refusals are removed for their age where there is no `received_from`.
   */
  getRefusalSummary: ['GET', '/refusals/summary'],
  /**
   * Send refusals again
   *
   * Sends one refusal, or those that a filter finds, the oldest first, through the normal way once more, as
   * [What was refused](#tag/Refusals) says. With `dry_run=true` it only says what would become of them.
   *
   * A call sends as many as `limit` says, fewer where they are long; `next_cursor` is where the next call goes on, with
   * the same body, and null at the end. Each has a result, which is kept with the refusal: `replayed`, it is stored now;
   * `duplicate`, it was stored before; `refused`, by the `code` that stands there; `incomplete`, it is kept only in part
   * or without its secrets, and cannot be sent. A batch that was refused as a whole has the result of its worst event. What is refused again makes
   * no new refusal and is not counted as sent once more.
   *
   * Calling it again is safe: what is stored is a duplicate then. Every call that is no dry run is in the audit log.
   */
  replayRefusals: ['POST', '/refusals/replay'],
  /**
   * Get a refusal
   *
   * One refusal, as the list has it.
   */
  getRefusal: ['GET', '/refusals/{refusal_id}'],
  /**
   * How many events arrive
   *
   * Exact counts of the events that were sent, by what became of them and by the minute, hour or day (UTC) in which they
   * arrived: `created` are stored, `duplicate` had been stored before, `rejected` were refused for what they refer to (404
   * and 409, and the rejected events of a batch). A request that is refused for its shape, its size, its rate or its
   * key is in none of them.
   *
   * `periods` has every period from `from` to `to`, those without events too; `groups` adds up the whole span by journey,
   * event name or key. Counts are kept by the minute for 8 days, by the hour for 400 days and by the day for ever:
   * `kept_from` tells since when there are any for this answer. Without `from`, an answer has the last 60 minutes, 24 hours
   * or 30 days up to `to`. 409 `too_many_periods` where there would be more than 1,440.
   */
  getActivity: ['GET', '/activity'],
  /**
   * List customers in the order of arrival
   *
   * The customers of the workspace by (`created_at`, `customer_id`), newest first. A `search` for an identifier begins
   * with whom it belongs to, whenever they were created.
   *
   * With `order=oldest` the list goes forward, and a program can follow it for ever, as it can the list of events: each
   * customer comes once, as it is when it is read; a new name does not bring it again. A `search` then finds the same
   * customers, none of them first.
   */
  listCustomers: ['GET', '/customers'],
  /**
   * Export customers in the order of arrival
   *
   * All customers that the filters let through and that were there before the request began, in the order of their
   * arrival, as [Exports](#tag/Exports) says: one a line, as `listCustomers` has them, each as it is when it is read.
   * The next export, behind the `next_cursor` of the last line, has who has come since; a new name does not bring a
   * customer again.
   *
   * A cursor is one of an export, or of `listCustomers` with `order=oldest`.
   */
  exportCustomers: ['GET', '/customers/export'],
  /**
   * List who was erased, in the order of erasing
   *
   * The customers that were erased, the first ones first, so that copies of them elsewhere can be cleaned. A program
   * can follow it for ever: `next_cursor` is always given, also by an empty page, and from there the list goes on, now
   * or in a year. Each comes once, as it is when it is read, whatever is erased meanwhile and on whichever replica;
   * that its last event is removed does not bring it again.
   *
   * Nobody is named but by the `customer_id`, by which copies of customers and of events have them. Where an older
   * backup was put back, begin the list anew: the order may be another.
   */
  listErasures: ['GET', '/customers/erasures'],
  /**
   * Get a customer
   *
   * The customer as it is now.
   */
  getCustomer: ['GET', '/customers/{customer_id}'],
  /**
   * Erase a customer
   *
   * Forgets a customer for good. Once this is answered nobody finds it any more and nothing is taken for it: events and
   * resends of it are refused with 410 `customer_erased`, and so is initializing the same `client_customer_id` with the
   * same type again, unless `may_return` says otherwise. Then whoever comes so is a new customer without a history.
   *
   * Its profile and its place in journeys are gone at once; its events of any date, and what was refused of it, are
   * removed in the background, which takes some minutes where there are millions. Reports are then as if it had never
   * been. Counts of what was sent stay: they name nobody.
   *
   * What stays of it is its `customer_id`, by which what comes late is known and copies elsewhere can be cleaned; a
   * keyed digest of its type and `client_customer_id`, unless it may return; and in the audit log who has erased it,
   * when, and how many events that were. Erasing it once more answers the same.
   */
  eraseCustomer: ['DELETE', '/customers/{customer_id}'],
  /**
   * List a customer's events, latest first
   *
   * The customer's timeline: its events in all journeys by (`occurred_at`, `id`), latest first. An event that
   * arrives late takes its place by the time at which it occurred.
   */
  listCustomerEvents: ['GET', '/customers/{customer_id}/events'],
  /**
   * Export all about one customer
   *
   * Everything that is kept about one customer in one file of JSON, to hand it over: the customer, where it stands in its
   * journeys, all its events that were acknowledged before the request began, in the order of their arrival, the refusals
   * that name its `customer_id`, and what the audit log has about it. Of whoever did that only the kind is told: members
   * and keys are not the customer's data.
   *
   * It is sent while it is read and may have any length, as [Exports](#tag/Exports) says. Each event has a line of
   * its own.
   */
  exportCustomer: ['GET', '/customers/{customer_id}/export'],
  /**
   * List where a customer stands in each journey
   *
   * The journeys that the customer was initialized for, in an order that stays, each with the steps that the customer
   * has reached and the event that filled each. Steps are reached as [Reports](#tag/Reports) says.
   */
  listCustomerJourneys: ['GET', '/customers/{customer_id}/journeys'],
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
