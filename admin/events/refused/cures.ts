/** How to fix rejected requests with a code, and whether replaying them can then succeed. */
export type Cure = { text: string; canSendAgain: boolean }

const cures: Record<string, Cure> = {
  customer_not_found: {
    text: 'Call initializeCustomer with this journey_id before the event, and send the customer_id that it returns, not your own identifier or one from another workspace. Once the customer exists, you can replay requests with its customer_id.',
    canSendAgain: true,
  },
  customer_not_in_journey: {
    text: 'The customer exists but is not enrolled in this journey. Call initializeCustomer with this journey_id, then replay.',
    canSendAgain: true,
  },
  journey_not_found: {
    text: 'No journey of this workspace has this journey_id. Copy it from the journey’s page, and check that the key belongs to the right workspace.',
    canSendAgain: true,
  },
  journey_archived: {
    text: 'The journey is archived and accepts no events. Restore it on its settings page and replay, or stop sending.',
    canSendAgain: true,
  },
  occurred_at_in_future: {
    text: 'The sender’s clock is more than an hour ahead, or the time lacks its offset. Correct the clock. You can replay the request once its time has come.',
    canSendAgain: true,
  },
  unknown_event: {
    text: 'The workspace rejects events without a definition. Correct the name in the sender, or define the event and replay.',
    canSendAgain: true,
  },
  event_not_as_defined: {
    text: 'The custom variables do not conform to the definition of the event. Correct the sender as the error describes, or change the definition and replay.',
    canSendAgain: true,
  },
  message_id_conflict: {
    text: 'This message_id was used for an event with different content. Resend an old event unchanged, and give a new event a new message_id. The first event is stored; this one cannot be stored with this message_id.',
    canSendAgain: false,
  },
  invalid_request: {
    text: 'The request does not match the contract. Fix the sender as the error describes. Requests cannot be edited here, so replaying this one would fail again.',
    canSendAgain: false,
  },
  invalid_json: {
    text: 'The body is not valid JSON, or it is ambiguous. Create it with a JSON library such as JSON.stringify instead of by hand, and check for quotes that a shell has removed. The response to the program says where the error is.',
    canSendAgain: false,
  },
  unsupported_media_type: {
    text: 'Send the header content-type: application/json, and the body in UTF-8, plain or gzipped. curl sends another content-type by default.',
    canSendAgain: false,
  },
  body_too_large: {
    text: 'Send less at once, for example a batch in several parts. The API reference has the limit of each operation.',
    canSendAgain: false,
  },
  unauthorized: {
    text: 'The key was revoked or rotated, or it has expired. Find the program that still sends it, and give it a key that is active under Service keys.',
    canSendAgain: false,
  },
  origin_not_allowed: {
    text: 'The page is served from an origin that the key does not allow. Add the origin to the key under Service keys, or use a key that allows it.',
    canSendAgain: false,
  },
  event_too_large: {
    text: 'An event can have up to 64 KiB. Send fewer custom variables, or a reference to the data instead of the data.',
    canSendAgain: false,
  },
}

/** Also handles codes of newer servers. */
export function cureOf(code: string): Cure {
  return cures[code] ?? { text: 'The API reference explains this code.', canSendAgain: true }
}
