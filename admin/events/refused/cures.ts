/** What to do about what was refused with a code, and whether sending it again can help then. */
export type Cure = { text: string; canSendAgain: boolean }

const cures: Record<string, Cure> = {
  customer_not_found: {
    text: 'Call initializeCustomer with this journey_id before the event, and send the customer_id of its answer. An identifier of your own or of another workspace is none that Cairn knows. Once the customer is there, what was sent with its customer_id can be sent again.',
    canSendAgain: true,
  },
  customer_not_in_journey: {
    text: 'The customer exists and was never initialized for this journey. Call initializeCustomer with this journey_id, then send again.',
    canSendAgain: true,
  },
  journey_not_found: {
    text: 'No journey of this workspace has this journey_id. Take it from the journey’s page, and look whether the key belongs to the workspace that you mean.',
    canSendAgain: true,
  },
  journey_archived: {
    text: 'The journey takes no more events. Restore it on its page and send again, or stop sending.',
    canSendAgain: true,
  },
  occurred_at_in_future: {
    text: 'The sender’s clock is more than an hour ahead, or the time lacks its offset. Mend the clock. What was sent can be sent again once its time is here.',
    canSendAgain: true,
  },
  message_id_conflict: {
    text: 'This message_id was used for an event with other content. Resend an old event unchanged, and give a new one a message_id of its own. The first one is stored; this one never will be under this message_id.',
    canSendAgain: false,
  },
  invalid_request: {
    text: 'The program sends a form that the contract does not have. Mend it there, as the fault says: nothing is edited here, so sending the same again would be refused again.',
    canSendAgain: false,
  },
  event_too_large: {
    text: 'An event has at most 64 KiB. Send less in its variables, or an identifier of what is large.',
    canSendAgain: false,
  },
}

/** Also for the codes of a later server. */
export function cureOf(code: string): Cure {
  return cures[code] ?? { text: 'The reference says what this code means.', canSendAgain: true }
}
