import { isIPv6 } from 'node:net'

/** What one sender has at its command: an IPv4 address, or the 64 bits in front of an IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [front = '', back] = address.split('::')
  const groups = front.split(':')
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').length
  const whole = [...groups, ...Array(Math.max(0, missing)).fill('0'), ...(back ?? '').split(':')]
  return `${whole.slice(0, 4).join(':')}::/64`
}

/** An address without what the machine adds to it: an IPv4 one that came by IPv6, or the name of an interface. */
export function plainAddress(address: string): string {
  return address
    .replace(/^::ffff:(?=[0-9.]+$)/i, '')
    .replace(/%.*/, '')
    .toLowerCase()
}
