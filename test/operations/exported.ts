import { get, type IncomingMessage } from 'node:http'
import type { Client, Schemas } from '../../client/index.ts'
import type { Cairn } from '../cairn.ts'

/** A parsed export. */
export type Exported<Item> = { items: Item[]; end: Schemas['ExportEnd'] }

/** Reads an export to its end. @throws {Error} if the end is missing */
export async function exported<Item = Schemas['Event']>(
  answer: ReturnType<Client['exportEvents' | 'exportCustomers']>,
): Promise<Exported<Item>> {
  const { data, error } = await answer
  if (!data) throw new Error(`refused: ${error?.code}`)
  const lines = (await new Response(data).text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const end = lines.pop()
  if (end?.end !== lines.length) throw new Error('the last line does not say that it is the end')
  return { items: lines, end }
}

/** Starts an export and stops reading after its first bytes. */
export async function pausedExport(
  cairn: Cairn,
  path: string,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const url = `${cairn.url}/v1${path}`
    get(url, { headers, agent: false }, (answer) => {
      answer.pause()
      resolve(answer)
    }).once('error', reject)
  })
}
