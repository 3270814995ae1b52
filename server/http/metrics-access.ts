import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** What proxies add about the sender. */
const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded-.+|x-(real|client|cluster-client)-ip|(cf|true|fastly)-.*ip)$/

/**
 * Whether a request may read the metrics: with the token, or from this machine without one. Where a credential is sent
 * it decides, so that a wrong token is noticed where it is tried first.
 */
export function mayReadMetrics(req: IncomingMessage, token: string | undefined): boolean {
  const { authorization } = req.headers
  if (authorization === undefined) return isLocal(req)
  const [, sent] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  return sent !== undefined && token !== undefined && isSame(sent, token)
}

/** Digests have one length, which the comparison in constant time needs, and tell nothing of the token's. */
function isSame(sent: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(sent), digest(token))
}

/** Sent by a program on this machine for itself: not by a proxy for another, nor by a page whose name leads here. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const { hostname = '' } = URL.parse(`http://${headers.host}`) ?? {}
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    (hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) &&
    !Object.keys(headers).some((name) => PROXY_HEADERS.test(name))
  )
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  // An IPv4 address on a socket for both families, ::ffff:127.0.0.1, is recognised as such.
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
