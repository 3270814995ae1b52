import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Period of the measurement. */
const PERIOD_MS = 200

/**
 * The main thread is busy from this share of a period on, and with ingestion from this many rows on. Half: when the server has
 * one core, its main thread waits for the writer, which needs that core too.
 */
const BUSY = 0.5
const BUSY_ROWS = 20

/** Wait after each message of a lane while ingestion needs the thread: four lanes then take less than a tenth of it. */
const PAUSE_MS = 50

/** Leaves the main thread to ingestion while that needs all of it: messages can wait, and nothing of them is lost. */
export class SpareTime {
  #last: EventLoopUtilization = performance.eventLoopUtilization()
  #measured_ms = performance.now()
  #rows = 0
  #isBusy = false

  /** To be called when rows were stored. */
  noteRows(rows: number): void {
    this.#rows += rows
  }

  /** Waits a moment while ingestion needs the thread. */
  async wait(): Promise<void> {
    if (performance.now() - this.#measured_ms >= PERIOD_MS) this.#measure()
    if (this.#isBusy) await sleep(PAUSE_MS)
  }

  #measure() {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#last)
    this.#isBusy = utilization >= BUSY && this.#rows >= BUSY_ROWS
    this.#last = now
    this.#measured_ms = performance.now()
    this.#rows = 0
  }
}
