import type { Server } from './processes.ts'

/** Sends a request with the key of the first workspace. @throws {Error} if it is refused */
export async function send(
  { url, workspaces: [workspace] }: Server,
  method: string,
  path: string,
  body?: object,
) {
  const reply = await fetch(`${url}/v1${path}`, {
    method,
    headers: { 'x-service-key': workspace?.key ?? '', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${method} ${path} was answered with ${reply.status}: ${await reply.text()}`)
  return await reply.json()
}
