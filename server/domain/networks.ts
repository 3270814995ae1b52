import { isIPv6 } from 'node:net'

/**
 * What one sender has at its command: an IPv4 address, or the 64 bits in front of an IPv6 address.
 * @param address in its plain form
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [front = [], back] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const missing = back === undefined ? 0 : 8 - front.length - back.length
  const whole = [...front, ...Array(missing).fill('0'), ...(back ?? [])]
  return `${whole.slice(0, 4).join(':')}::/64`
}

/** What a provider gives to one site (RFC 6177: 48 bits of IPv6), or 24 bits of IPv4. @param network by `networkOf` */
export function siteOf(network: string): string {
  return network.includes(':')
    ? `${network.split(':').slice(0, 3).join(':')}::/48`
    : `${network.split('.').slice(0, 3).join('.')}.0/24`
}

/** What `::ffff:203.0.113.9` is in the canonical form: the last 32 bits are the IPv4 address. */
const IPV4_MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The one way to write an address: IPv6 in its canonical form (RFC 5952), without the name of an interface; an IPv4
 * address that came as an IPv6 one (RFC 4291, 2.5.5.2) as IPv4.
 */
export function plainAddress(address: string): string {
  const [unscoped = ''] = address.split('%')
  if (!isIPv6(unscoped)) return unscoped
  const canonical = new URL(`http://[${unscoped}]`).hostname.slice(1, -1)
  const [, high = '', low = ''] = IPV4_MAPPED.exec(canonical) ?? []
  if (high === '') return canonical
  const bytes = [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
  return bytes.join('.')
}
