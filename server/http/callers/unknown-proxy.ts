import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import { isHttpsOrigin, originOf } from './origins.ts'

/** So many kinds of programs at one address of the inner network are those of many people. */
const MANY_PROGRAMS = 20

/** Of so many addresses, and of so much of a name, there is a memory. */
const WATCHED_ADDRESSES = 50
const PROGRAM_LENGTH = 200

/** Addresses of this machine and of inner networks, where a proxy would be. */
const inner = new BlockList()
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  inner.addSubnet(network, bits, 'ipv4')
}
inner.addAddress('::1', 'ipv6')
inner.addSubnet('fc00::', 7, 'ipv6')

type Seen = {
  headers: IncomingHttpHeaders
  /** Of the peer, in its plain form. */
  peer: string
  /** What a trusted proxy says it is, else the peer's own. */
  address: string
}

/**
 * Tells the log, once, that requests seem to come through a proxy that is not named in CAIRN_TRUSTED_PROXIES. All senders
 * behind it have one address, in the audit log and for the limit on wrong passwords.
 */
export class ProxyWatch {
  readonly #publicUrl: URL | undefined
  readonly #log: Logger
  readonly #logAddresses: boolean
  readonly #programs = new Map<string, Set<string>>()
  #hasWarned = false

  /** @param options.logAddresses whether the log is to have the address: a sender may pretend to be a proxy */
  constructor(options: { publicUrl: URL | undefined; log: Logger; logAddresses: boolean }) {
    this.#publicUrl = options.publicUrl
    this.#log = options.log
    this.#logAddresses = options.logAddresses
  }

  look({ headers, peer, address }: Seen): void {
    // A trusted one has told whose request it is.
    if (this.#hasWarned || address !== peer) return
    const sign = this.#sign(headers, peer)
    if (sign === undefined) return
    this.#hasWarned = true
    this.#programs.clear()
    this.#log.warn(
      { address: this.#logAddresses ? peer : undefined, sign },
      'a proxy that is not in CAIRN_TRUSTED_PROXIES, or that adds no X-Forwarded-For, seems to pass requests on; all of its senders count as one',
    )
  }

  /** What speaks for a proxy; undefined where nothing does. */
  #sign(headers: IncomingHttpHeaders, peer: string): string | undefined {
    if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined)
      return 'forwarding header'
    // We speak no TLS: between a page or an address of https and us there is somebody who does.
    const { host, origin } = headers
    if (host !== undefined && isHttpsOrigin(origin, host)) return 'page of https'
    if (this.#publicUrl?.protocol === 'https:' && this.#publicUrl.origin === originOf(`https://${host}`))
      return 'public address of https'
    return this.#hasManyPrograms(peer, headers['user-agent']) ? 'many programs at one address' : undefined
  }

  #hasManyPrograms(peer: string, program: string | undefined): boolean {
    if (program === undefined || !inner.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')) return false
    let programs = this.#programs.get(peer)
    if (!programs) {
      if (this.#programs.size >= WATCHED_ADDRESSES) return false
      programs = new Set()
      this.#programs.set(peer, programs)
    }
    return programs.add(program.slice(0, PROGRAM_LENGTH)).size >= MANY_PROGRAMS
  }
}
