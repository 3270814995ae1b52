import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits.
 * @throws the signal's reason as soon as it is aborted; the error of Node's timer would look like a fault
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
