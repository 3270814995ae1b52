/**
 * The keys of posting lists: three bits for the kind and 50 for the subject. Only the first kind is unique per message;
 * keys of the others may rarely be shared by two subjects, so a reader checks the event too.
 */

const KIND = 2 ** 50

/** A key has the lowest 22 bits of a reference beside the 28 of a name. */
export const REFERENCE_BITS = 22
const NAME_BITS = 28
const NAMES = 2 ** NAME_BITS
const REFERENCES = 2 ** REFERENCE_BITS

const MESSAGE = 0
const CUSTOMER = 1 * KIND
const WORKSPACE = 2 * KIND
const JOURNEY = 3 * KIND
const NAME = 4 * KIND
const JOURNEY_NAME = 5 * KIND

/** Keys for lists. `name` is the hash of an event's name, see `nameHashes`. */
export const postingKeys = {
  message: (message_key: number) => MESSAGE + message_key,
  customer: (customer_ref: number) => CUSTOMER + customer_ref,
  workspace: (workspace_ref: number) => WORKSPACE + workspace_ref,
  journey: (journey_ref: number) => JOURNEY + journey_ref,
  name: (workspace_ref: number, name: number) => NAME + (workspace_ref % REFERENCES) * NAMES + name,
  journeyName: (journey_ref: number, name: number) =>
    JOURNEY_NAME + (journey_ref % REFERENCES) * NAMES + name,
}

export function isMessageKey(key: number): boolean {
  return key < CUSTOMER
}
