import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { plainAddress } from '../../domain/networks.ts'

/** Nobody has so many proxies on the way; each is looked up among the trusted ones. */
const MOST_PROXIES = 50

/**
 * The address a request was sent from, in its plain form: the peer's, or what a trusted proxy says it is. Each proxy adds to
 * the end of the list, so the nearest address that is not a trusted proxy's counts: what stands before it anybody can have
 * written. Where a trusted proxy names no address (`unknown`, `_hidden`), the proxy's own is the best that is known.
 * @param isTrusted whether the address is that of a proxy that is believed
 */
export function senderAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  isTrusted: (address: string) => boolean,
): string {
  let address = plainAddress(socket.remoteAddress ?? '')
  if (!isTrusted(address)) return address
  for (const node of nodesOf(headers).slice(-MOST_PROXIES).reverse()) {
    const said = addressOfNode(node)
    if (said === undefined) return address
    address = said
    if (!isTrusted(address)) return address
  }
  return address
}

/**
 * What the proxies on the way have added about who sent to them, the nearest last. `X-Forwarded-For` decides where both
 * headers are there: most proxies set it, and pass on a `Forwarded` that anybody can have written.
 */
function nodesOf(headers: IncomingMessage['headers']): (string | undefined)[] {
  const list = headers['x-forwarded-for']
  if (list === undefined) return headers.forwarded === undefined ? [] : forwardedFor(headers.forwarded)
  // Elements of a list may be empty (RFC 9110, 5.6.1).
  return [list]
    .flat()
    .join()
    .split(',')
    .map((node) => node.trim())
    .filter((node) => node !== '')
}

const TOKEN = String.raw`[\w!#$%&'*+.^|~\x60-]+`
/** A token, or a string in quotes. Proxies are seen to leave the quotes off, where `[`, `]` and `:` need them. */
const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s",;\\]+)`
const PAIR = String.raw`${TOKEN}[ \t]*=[ \t]*${VALUE}`
const ELEMENT = new RegExp(String.raw`[ \t]*(${PAIR}(?:[ \t]*;[ \t]*${PAIR})*)[ \t]*(?=,|$)`, 'y')
const PAIRS = new RegExp(String.raw`(${TOKEN})[ \t]*=[ \t]*(${VALUE})`, 'g')

/** The `for` of each element of `Forwarded` (RFC 7239, 4); undefined where it has none, or cannot be read. */
function forwardedFor(header: string): (string | undefined)[] {
  const nodes: (string | undefined)[] = []
  let at = 0
  while (at <= header.length) {
    ELEMENT.lastIndex = at
    const [whole = '', element] = ELEMENT.exec(header) ?? []
    // A quote that a sender opened and did not close must not take in what a proxy has added behind the next comma.
    const comma = header.indexOf(',', at + whole.length)
    const end = comma === -1 ? header.length : comma
    if (element !== undefined) nodes.push(forOf(element))
    else if (header.slice(at, end).trim() !== '') nodes.push(undefined)
    at = end + 1
  }
  return nodes
}

function forOf(element: string): string | undefined {
  const values = [...element.matchAll(PAIRS)].filter(([, name = '']) => name.toLowerCase() === 'for')
  return values.length === 1 ? values[0]?.[2] : undefined
}

/** In brackets, which a port needs that follows an IPv6 address. The port may be obfuscated (RFC 7239, 6.3). */
const WITH_BRACKETS = /^\[([^[\]]*)\](?::(?:\d*|_[\w.-]+))?$/
const PORT = /:(?:\d*|_[\w.-]+)$/

/**
 * The address of a node (RFC 7239, 6), in its plain form: `203.0.113.9`, `203.0.113.9:40001`, `2001:db8::1`,
 * `[2001:db8::1]:443`, each with or without quotes. Undefined where it names none.
 */
function addressOfNode(node: string | undefined): string | undefined {
  if (node === undefined) return undefined
  const text =
    node.startsWith('"') && node.endsWith('"') ? node.slice(1, -1).replace(/\\(.)/g, '$1').trim() : node
  const [, bracketed] = WITH_BRACKETS.exec(text) ?? []
  // First as a whole: of an IPv6 address without brackets the last group looks like a port.
  const forms = bracketed === undefined ? [text, text.replace(PORT, '')] : [bracketed]
  return forms.map(plainAddress).find((address) => isIP(address) !== 0)
}
