import { type Client, createClient } from '../../client/index.ts'
import type { Config } from '../config.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure } from './failure.ts'
import { type ApiOptions, apiUrl } from './options.ts'
import { causeText, type PatienceOptions, patientFetch } from './patient-fetch.ts'
import { serviceKey } from './service-key.ts'

/** The server did not answer. A change that was requested may have been made. */
export class Unreachable extends CommandFailure {}

/**
 * Returns a client for a command with `--base-url` and `--key-file`. Its calls reject with `Unreachable` if the server does
 * not answer.
 * @param user what needs the key, for example `the plan`
 * @throws {CommandFailure} if there is no key
 */
export function apiClient(
  config: Config,
  io: CommandIo,
  { baseUrl, keyFile }: ApiOptions,
  user: string,
): Client {
  return createClient({
    baseUrl: apiUrl(config, baseUrl),
    serviceKey: serviceKey(io, keyFile, user),
    fetch: fetchOrSay,
  })
}

/**
 * The same for a command with `--give-up-after`, whose requests are safe to repeat: they wait for a server that is away.
 * @throws {CommandFailure} if there is no key
 */
export function patientClient(
  config: Config,
  io: CommandIo,
  { baseUrl, keyFile, giveUpAfter }: ApiOptions & { giveUpAfter: number },
  { user, ...patience }: Pick<PatienceOptions, 'signal' | 'advice'> & { user: string },
): Client {
  return createClient({
    baseUrl: apiUrl(config, baseUrl),
    serviceKey: serviceKey(io, keyFile, user),
    retries: 0,
    fetch: patientFetch({ ...patience, patience_ms: giveUpAfter, output: io.stderr }),
  })
}

/** A `fetch` that rejects with `Unreachable`. */
export async function fetchOrSay(request: Request, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(request, init)
  } catch (error) {
    init?.signal?.throwIfAborted()
    throw new Unreachable(`cannot reach ${new URL(request.url).origin}: ${causeText(error)}`)
  }
}
