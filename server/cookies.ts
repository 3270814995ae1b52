import { isBehindHttps, type Reached } from './origins.ts'

/**
 * What becomes of the cookies: of the session's, null removes it; `device` is by which the browser is known again. What is
 * absent stays.
 */
export type Cookies = { session?: { token: string; maxAge_s: number } | null; device?: string }

const SESSION = 'cairn_session'
const DEVICE = 'cairn_device'

/** Browsers keep a cookie for 400 days at the most. */
const DEVICE_S = 180 * 86_400

/** The cookies that a request carries; behind HTTPS only those that no other host can have set. */
export function readCookies(
  reached: Reached,
  publicUrl: URL | undefined,
): { session?: string; device?: string } {
  const given = new Map<string, string>()
  for (const pair of (reached.headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0) given.set(pair.slice(0, equals).trim(), pair.slice(equals + 1).trim())
  }
  const isHttps = isBehindHttps(reached, publicUrl)
  const read = (name: string) => given.get(`__Host-${name}`) ?? (isHttps ? undefined : given.get(name))
  const session = read(SESSION)
  const device = read(DEVICE)
  return { ...(session !== undefined && { session }), ...(device !== undefined && { device }) }
}

/** The values of `Set-Cookie`. */
export function writeCookies(
  { session, device }: Cookies,
  reached: Reached,
  publicUrl: URL | undefined,
): string[] {
  const isHttps = isBehindHttps(reached, publicUrl)
  const write = (name: string, value: string, maxAge_s: number) =>
    `${isHttps ? '__Host-' : ''}${name}=${value}; Path=/; Max-Age=${maxAge_s}; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`
  const cookies: string[] = []
  if (session !== undefined) cookies.push(write(SESSION, session?.token ?? '', session?.maxAge_s ?? 0))
  if (device !== undefined) cookies.push(write(DEVICE, device, DEVICE_S))
  return cookies
}
