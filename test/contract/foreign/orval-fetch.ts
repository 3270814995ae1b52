/**
 * Sends what the client by orval asks for.
 * @param init for fetch, with the address that the client leaves to its user
 */
export async function orvalFetch<Reply>(
  path: string,
  { baseUrl, ...init }: RequestInit & { baseUrl?: string },
): Promise<Reply> {
  const reply = await fetch(`${baseUrl}${path}`, init)
  return { status: reply.status, headers: reply.headers, data: await reply.json() } as Reply
}
