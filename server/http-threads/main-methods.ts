import type { Owner } from '../domain/fair-queue.ts'
import type { Common } from '../http/http-server.ts'
import type { GuessLedger } from '../http/rates/attempts.ts'
import type { Storage } from '../storage/storage.ts'
import { storeMethods } from './store-methods.ts'

/** What the main thread has that those which serve HTTP have in common. */
export type MainParts = Pick<Common, 'passwords' | 'exports' | 'exposition'> & {
  storage: Storage
  guesses: GuessLedger
  /** Lines for the log. */
  log: (lines: readonly string[]) => void
}

/** What a thread that serves HTTP may call in the main thread. */
export function mainMethods(
  { storage, passwords, guesses, exports, exposition, log }: MainParts,
  noteReader: (name: string, noted_ms: number) => void,
) {
  const places = new Map<number, () => void>()
  let entered = 0
  return {
    ...storeMethods(storage),
    hashPassword: (password: string) => passwords.hash(password),
    matchesPassword: (password: string, hash: string | undefined) => passwords.matches(password, hash),
    beginGuess: (...guesser: Parameters<GuessLedger['begin']>) => guesses.begin(...guesser),
    endGuess: (...end: Parameters<GuessLedger['end']>) => guesses.end(...end),
    async enterExport(owner: Owner) {
      const leave = await exports.enter(owner)
      entered += 1
      places.set(entered, leave)
      return entered
    },
    leaveExport(place: number) {
      places.get(place)?.()
      places.delete(place)
    },
    noteReader,
    exposition,
    log,
  }
}

export type MainMethods = ReturnType<typeof mainMethods>
