import { parseCookie, stringifySetCookie } from 'cookie'
import { type Ingress, isBehindHttps } from './origins.ts'

/**
 * Cookies to set. `session`: null removes it. `device` recognizes the browser at the next sign-in. An absent cookie is
 * left unchanged.
 */
export type Cookies = { session?: { token: string; maxAge_s: number } | null; device?: string }

const SESSION = 'cairn_session'
const DEVICE = 'cairn_device'

/** Lifetime of the device cookie; browsers keep a cookie for at most 400 days. */
const DEVICE_S = 180 * 86_400

/** Reads the cookies of a request; with HTTPS only those that no other host can have set. */
export function readCookies(
  ingress: Ingress,
  publicUrl: URL | undefined,
): { session?: string; device?: string } {
  const given = parseCookie(ingress.headers.cookie ?? '')
  const isHttps = isBehindHttps(ingress, publicUrl)
  const read = (name: string) => given[`__Host-${name}`] ?? (isHttps ? undefined : given[name])
  const session = read(SESSION)
  const device = read(DEVICE)
  return { ...(session !== undefined && { session }), ...(device !== undefined && { device }) }
}

/** Returns the values of `Set-Cookie`. */
export function writeCookies(
  { session, device }: Cookies,
  ingress: Ingress,
  publicUrl: URL | undefined,
): string[] {
  const isHttps = isBehindHttps(ingress, publicUrl)
  const write = (name: string, value: string, maxAge: number) =>
    stringifySetCookie({
      name: isHttps ? `__Host-${name}` : name,
      value,
      path: '/',
      maxAge,
      httpOnly: true,
      sameSite: 'strict',
      secure: isHttps,
    })
  const cookies: string[] = []
  if (session !== undefined) cookies.push(write(SESSION, session?.token ?? '', session?.maxAge_s ?? 0))
  if (device !== undefined) cookies.push(write(DEVICE, device, DEVICE_S))
  return cookies
}
