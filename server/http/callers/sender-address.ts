import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { plainAddress } from '../../domain/addresses.ts'

/** Maximum proxies evaluated; each is looked up in the list of trusted ones. */
const MOST_PROXIES = 50

/**
 * Returns the address that sent a request, in its plain form: that of the peer, or what a trusted proxy reports. Each
 * proxy appends to the list, so the last address that is not a trusted proxy's counts; anyone could have written those
 * before it. If a trusted proxy reports no address (`unknown`, `_hidden`), the proxy's own is used.
 * @param isTrusted whether an address is that of a trusted proxy
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
 * Returns what the proxies on the way have appended about their senders, the nearest last. If both headers exist,
 * `X-Forwarded-For` decides: most proxies set it, and pass on a `Forwarded` header that anyone could have written.
 */
function nodesOf(headers: IncomingMessage['headers']): (string | undefined)[] {
  const list = headers['x-forwarded-for']
  if (list === undefined) return headers.forwarded === undefined ? [] : forwardedFor(headers.forwarded)
  // List elements may be empty (RFC 9110, 5.6.1).
  return [list]
    .flat()
    .join()
    .split(',')
    .map((node) => node.trim())
    .filter((node) => node !== '')
}

const TOKEN = String.raw`[\w!#$%&'*+.^|~\x60-]+`
/** A token or a quoted string. Some proxies omit the quotes that `[`, `]` and `:` require. */
const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s",;\\]+)`
const PAIR = String.raw`${TOKEN}[ \t]*=[ \t]*${VALUE}`
const ELEMENT = new RegExp(String.raw`[ \t]*(${PAIR}(?:[ \t]*;[ \t]*${PAIR})*)[ \t]*(?=,|$)`, 'y')
const PAIRS = new RegExp(String.raw`(${TOKEN})[ \t]*=[ \t]*(${VALUE})`, 'g')

/**
 * Returns the `for` of each element of `Forwarded` (RFC 7239, 4); undefined for an element without one or a malformed
 * one.
 */
function forwardedFor(header: string): (string | undefined)[] {
  const nodes: (string | undefined)[] = []
  let at = 0
  while (at <= header.length) {
    ELEMENT.lastIndex = at
    const [whole = '', element] = ELEMENT.exec(header) ?? []
    // A quote that a sender did not close must not swallow what a proxy has appended after the next comma.
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

/** An IPv6 address in brackets, required if a port follows. The port may be obfuscated (RFC 7239, 6.3). */
const WITH_BRACKETS = /^\[([^[\]]*)\](?::(?:\d*|_[\w.-]+))?$/
const PORT = /:(?:\d*|_[\w.-]+)$/

/**
 * Returns the address of a node (RFC 7239, 6) in its plain form. Accepts `203.0.113.9`, `203.0.113.9:40001`,
 * `2001:db8::1` and `[2001:db8::1]:443`, with or without quotes. Undefined if it contains no address.
 */
function addressOfNode(node: string | undefined): string | undefined {
  if (node === undefined) return undefined
  const text =
    node.startsWith('"') && node.endsWith('"') ? node.slice(1, -1).replace(/\\(.)/g, '$1').trim() : node
  const [, bracketed] = WITH_BRACKETS.exec(text) ?? []
  // As a whole first, because the last group of an IPv6 address without brackets looks like a port.
  const forms = bracketed === undefined ? [text, text.replace(PORT, '')] : [bracketed]
  return forms.map(plainAddress).find((address) => isIP(address) !== 0)
}
