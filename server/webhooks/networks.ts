import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { plainAddress } from '../domain/addresses.ts'

/** A network: an address, and the length of its prefix in bits. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>

/** The IPv6 addresses that IANA has assigned as global unicast. ipaddr.js takes what is unassigned as unicast too. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** A public address that Azure answers inside every virtual machine, with its metadata. */
const AZURE_PLATFORM = '168.63.129.16'

/** Reads a network in CIDR notation, or a single address. @returns undefined if it is neither */
export function readNetwork(text: string): Network | undefined {
  const network = isIP(text) ? `${text}/${isIP(text) === 4 ? 32 : 128}` : text
  const [address = ''] = network.split('/')
  // No abbreviations such as 10/8, nor octal numbers; nor IPv4 in IPv6, because addresses are compared as IPv4.
  if (
    !isIP(address) ||
    address.includes('%') ||
    plainAddress(address).includes(':') !== address.includes(':')
  ) {
    return undefined
  }
  return ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : undefined
}

/** Whether an address is in one of the networks. */
export function isInside(address: string, networks: readonly Network[]): boolean {
  const parsed = parse(address)
  return (
    parsed !== undefined &&
    networks.some((network) => network[0].kind() === parsed.kind() && parsed.match(network))
  )
}

/**
 * Whether an address is public unicast: neither private, loopback, link-local (with the metadata services of clouds),
 * shared, multicast, reserved or for documentation, nor one that carries an IPv4 address inside (NAT64, 6to4, Teredo).
 * An IPv4-mapped IPv6 address is what the IPv4 address is.
 */
export function isPublic(address: string): boolean {
  const parsed = parse(address)
  if (parsed?.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' ? parsed.toString() !== AZURE_PLATFORM : parsed.match(GLOBAL_IPV6)
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const plain = plainAddress(address)
  return isIP(plain) ? ipaddr.parse(plain) : undefined
}
