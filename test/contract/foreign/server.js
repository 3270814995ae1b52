import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const CAIRN = '../../../server/cli/cairn.js'

/**
 * Starts a server with a new store, a workspace and a journey.
 * @returns {Promise<{
 *   baseUrl: string, journey_id: string, secret_key: string, publishable_key: string, stop: () => Promise<void>
 * }>}
 */
export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-foreign-'))
  const env = { DATABASE_URL: `sqlite:${join(folder, 'cairn.db')}`, PORT: '0', LOG_LEVEL: 'error' }
  const init = [CAIRN, 'init', '--workspace', 'Foreign', '--journey', 'Onboarding', '--json']
  const made = JSON.parse(execFileSync(process.execPath, init, { env, encoding: 'utf8' }))
  const server = spawn(process.execPath, [CAIRN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  const stop = async () => {
    server.kill()
    await ended
    rmSync(folder, { recursive: true })
  }
  for await (const line of createInterface(server.stdout)) {
    const address = /Cairn listens on (\S+)/.exec(line)?.[1]
    if (address) return { ...made, baseUrl: `${address}/v1`, stop }
  }
  throw new Error('the server ended before it listened')
}
