import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Headers that proxies add about the client. */
const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded-.+|x-(real|client|cluster-client)-ip|(cf|true|fastly)-.*ip)$/

/**
 * Whether a request may read the metrics: with the token, or without one from this machine. If a credential is sent, it
 * decides, so that a wrong token is noticed where it is first tried.
 */
export function mayReadMetrics(req: IncomingMessage, token: string | undefined): boolean {
  const { authorization } = req.headers
  if (authorization === undefined) return isLocal(req)
  const [, sent] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  return sent !== undefined && token !== undefined && isSame(sent, token)
}

/**
 * Compares digests: they have equal length, as the constant-time comparison requires, and do not reveal the token's.
 */
function isSame(sent: string, token: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(sent), digest(token))
}

/**
 * Whether a program on this machine sent it for itself: not a proxy for another, nor a page whose host name resolves
 * here.
 */
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
  // An IPv4 address on a dual-stack socket, ::ffff:127.0.0.1, is recognized as such.
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
