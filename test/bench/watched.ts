import type { Server } from './processes.ts'

/** The worst values of our servers, in each part of the run and in the whole run; null if they are not reported. */
export class Watched {
  readonly parts: Record<string, { rss_mb: number | null; indexing_pause_ms: number | null }> = {}

  get rss_mb(): number | null {
    return greatest(Object.values(this.parts).map((part) => part.rss_mb))
  }

  get indexing_pause_ms(): number | null {
    return greatest(Object.values(this.parts).map((part) => part.indexing_pause_ms))
  }

  /** Reads the figures of a server, which must still be running. */
  async note(part: string, server: Server): Promise<void> {
    const pause = await server.metric('cairn_indexing_pause_seconds_max')
    const before = this.parts[part]
    this.parts[part] = {
      rss_mb: greatest([before?.rss_mb ?? null, server.peakMemory_mb()]),
      indexing_pause_ms: greatest([before?.indexing_pause_ms ?? null, pause === null ? null : pause * 1000]),
    }
  }
}

function greatest(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}
