import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits a while.
 * @throws the reason of the signal as soon as it is aborted; the error of Node's timer would be taken for a fault
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
