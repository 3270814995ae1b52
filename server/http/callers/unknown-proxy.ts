import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'

type ProxyWarningOptions = {
  trustedProxies: readonly string[]
  log: Logger
  /** Whether the log may contain the address: the sender may be a client that pretends to be a proxy. */
  logAddresses: boolean
}

/**
 * Returns a function to call with every request. It warns once if a proxy forwards requests although none is configured: all
 * clients behind it then share one address, in the audit log and for the limit on wrong passwords.
 */
export function unknownProxyWarning({ trustedProxies, log, logAddresses }: ProxyWarningOptions) {
  let isDone = trustedProxies.length > 0
  return (headers: IncomingHttpHeaders, address: string): void => {
    if (isDone || (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined)) return
    isDone = true
    log.warn(
      { address: logAddresses ? address : undefined },
      'a proxy forwards requests, but CAIRN_TRUSTED_PROXIES is not set; all clients behind it count as one',
    )
  }
}
