import { isIPv6 } from 'node:net'

/**
 * Returns the network that one sender controls: an IPv4 address, or the first 64 bits of an IPv6 address.
 * @param address in its plain form
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [front = [], back] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const missing = back === undefined ? 0 : 8 - front.length - back.length
  const whole = [...front, ...Array(missing).fill('0'), ...(back ?? [])]
  return `${whole.slice(0, 4).join(':')}::/64`
}

/** Returns the network of one site: 48 bits of IPv6 (RFC 6177), or 24 bits of IPv4. @param network from `networkOf` */
export function siteOf(network: string): string {
  return network.includes(':')
    ? `${network.split(':').slice(0, 3).join(':')}::/48`
    : `${network.split('.').slice(0, 3).join('.')}.0/24`
}

/** `::ffff:203.0.113.9` in canonical form: the last 32 bits are the IPv4 address. */
const IPV4_MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * Returns the canonical form of an address: IPv6 as in RFC 5952, without an interface name; an IPv4-mapped IPv6 address
 * (RFC 4291, 2.5.5.2) as IPv4.
 */
export function plainAddress(address: string): string {
  const [unscoped = ''] = address.split('%')
  // Looked at first, because the pattern of `isIPv6` takes 4 µs to not find an IPv4 address, once per request.
  if (!unscoped.includes(':') || !isIPv6(unscoped)) return unscoped
  const canonical = new URL(`http://[${unscoped}]`).hostname.slice(1, -1)
  const [, high = '', low = ''] = IPV4_MAPPED.exec(canonical) ?? []
  if (high === '') return canonical
  const bytes = [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
  return bytes.join('.')
}
