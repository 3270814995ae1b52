import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'

type ProxyWarningOptions = {
  trustedProxies: readonly string[]
  log: Logger
  /** Whether the log may contain the address: a sender can pretend to be a proxy. */
  logAddresses: boolean
}

/**
 * Makes a function that is called with every request and warns once that a proxy forwards them although none is configured:
 * all of its senders then share one address, in the audit log and for the limit on wrong passwords.
 */
export function unknownProxyWarning({ trustedProxies, log, logAddresses }: ProxyWarningOptions) {
  let isDone = trustedProxies.length > 0
  return (headers: IncomingHttpHeaders, address: string): void => {
    if (isDone || (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined)) return
    isDone = true
    log.warn(
      { address: logAddresses ? address : undefined },
      'a proxy forwards requests, but CAIRN_TRUSTED_PROXIES is not set; all of its senders count as one',
    )
  }
}
