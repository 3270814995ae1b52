import type { Unavailable } from '../../server/storage/unavailable.ts'

/** How many senders start. */
const SENDERS = 16

/**
 * Starts senders that send one event after the other, each with a `message_id` of its own, until they are stopped.
 * @param send returns the event's identifier. @throws {Unavailable} if it was refused
 */
export function senders(send: (message_id: string) => Promise<string>) {
  const acknowledged = new Map<string, string>()
  const refused = new Set<string>()
  const reasons = new Set<string>()
  let isOver = false
  let last_ms = 0
  const senderNumbers = Array.from({ length: SENDERS }, (_, sender) => sender)
  const sending = senderNumbers.map(async (sender) => {
    for (let index = 0; !isOver; index += 1) {
      const message_id = `${sender} ${index}`
      try {
        acknowledged.set(message_id, await send(message_id))
        last_ms = performance.now()
      } catch (error) {
        refused.add(message_id)
        reasons.add((error as Unavailable).reason)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  })
  return {
    acknowledged,
    refused,
    reasons,
    lastAcknowledged_ms: () => last_ms,
    /** Stops the senders and resends everything, whatever its outcome was. @returns identifiers by message */
    async sendAgain(): Promise<Map<string, string>> {
      isOver = true
      await Promise.all(sending)
      const messages = [...acknowledged.keys(), ...refused]
      const ids = new Map<string, string>()
      const again = senderNumbers.map(async () => {
        for (let message_id = messages.pop(); message_id !== undefined; message_id = messages.pop()) {
          ids.set(message_id, await send(message_id))
        }
      })
      await Promise.all(again)
      return ids
    },
  }
}
