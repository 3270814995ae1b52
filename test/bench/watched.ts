import type { Server } from './processes.ts'

/** The worst of what our servers showed in the whole run. */
export class Watched {
  rss_mb: number | null = null
  indexingPause_ms: number | null = null

  /** Reads a server's figures; call it before the server ends. */
  async note(server: Server): Promise<void> {
    this.rss_mb = greater(this.rss_mb, server.peakMemory_mb())
    const pause = await server.metric('cairn_indexing_pause_seconds_max')
    this.indexingPause_ms = greater(this.indexingPause_ms, pause === null ? null : pause * 1000)
  }
}

function greater(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}
