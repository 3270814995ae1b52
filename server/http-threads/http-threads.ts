import { once } from 'node:events'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { Config } from '../config.ts'
import type { KeyChanges } from '../http/callers/key-changes.ts'
import type { PATIENCE, Serving } from '../http/http-server.ts'
import { assertFree, type Where } from '../http/listening-sockets.ts'
import { sharedCountsMemory } from '../http/rates/shared-counts.ts'
import { sharedLook } from '../http/readiness.ts'
import type { ServedSamples } from '../served-metrics.ts'
import { startThread } from '../storage/start-thread.ts'
import { threadModule } from '../storage/thread-module.ts'
import { Calls } from './calls.ts'
import type { HttpThreadData, HttpThreadMethods } from './http-thread.ts'
import { type MainParts, mainMethods } from './main-methods.ts'

/** As much as `npm start` gives the main thread, which serves alone otherwise. */
const YOUNG_MB = 24

type HttpThreadsOptions = {
  count: number
  config: Config
  contractFile: URL
  patience: typeof PATIENCE
  keyChanges: KeyChanges
  /** Called when one of them has ended and was not told to. */
  onDeath: (error: Error) => void
}

type Started = { worker: Worker; port: MessagePort; ended: Promise<unknown> }

/** Threads that serve HTTP side by side on one port, while the main thread sees to what they have in common. */
export class HttpThreads implements Serving {
  readonly #started: readonly Started[]
  /** Calls to each of them. */
  #calls: readonly Calls<HttpThreadMethods>[] = []
  #isClosing = false
  readonly #died = Promise.withResolvers<never>()

  private constructor(started: readonly Started[], onDeath: (error: Error) => void) {
    this.#started = started
    // Nobody need wait for it.
    this.#died.promise.catch(() => {})
    const die = (error: Error) => {
      this.#died.reject(error)
      onDeath(error)
    }
    for (const { worker } of started) {
      worker.on('error', die)
      worker.on('exit', () => {
        if (!this.#isClosing) die(new Error('a thread that serves HTTP has ended'))
      })
    }
  }

  /** Starts them. They load what they serve with, while the main thread opens the store. */
  static async start(options: HttpThreadsOptions): Promise<HttpThreads> {
    const { count, config, contractFile, patience, keyChanges, onDeath } = options
    const counts = sharedCountsMemory()
    const started = Array.from({ length: count }, (): Started => {
      const { port1, port2 } = new MessageChannel()
      const workerData: HttpThreadData = {
        port: port2,
        config: { ...config, publicUrl: config.publicUrl?.href },
        contractFile: contractFile.href,
        patience,
        keyChanges: keyChanges.memory,
        counts,
        threads: count,
      }
      const module = threadModule('http-thread', import.meta.url)
      const worker = startThread(module, { workerData, transferList: [port2] }, YOUNG_MB)
      return { worker, port: port1, ended: new Promise((resolve) => worker.once('exit', resolve)) }
    })
    const threads = new HttpThreads(started, onDeath)
    try {
      // Their heaps have been laid out by then, and other threads get less.
      const online = Promise.all(started.map(({ worker }) => once(worker, 'online')))
      await Promise.race([online, threads.#died.promise])
    } catch (error) {
      await threads.end()
      throw error
    }
    return threads
  }

  /** Gives them what they have in common. To be called once, before they listen. */
  serve(parts: MainParts): Serving {
    const noteReader = (name: string, noted_ms: number) => {
      for (const calls of this.#calls) calls.tell('readerNoted', name, noted_ms)
    }
    // One look at the disk for all of them.
    const storage = { ...parts.storage, assertWritable: sharedLook(() => parts.storage.assertWritable()) }
    this.#calls = this.#started.map(({ port }) => {
      return new Calls(port, mainMethods({ ...parts, storage }, noteReader))
    })
    return this
  }

  async listen({ host, port }: Where): Promise<number> {
    await assertFree({ host, port })
    let listened = port
    for (const calls of this.#calls) {
      const asked = calls.ask('listen', { host, port: listened }, { isShared: true })
      // One that has died, while it loaded what it serves with for example, answers nothing.
      listened = await Promise.race([asked, this.#died.promise])
    }
    return listened
  }

  refreshKeys(): void {
    for (const calls of this.#calls) calls.tell('refreshKeys')
  }

  async samples(): Promise<ServedSamples[]> {
    const samples = await Promise.all(this.#calls.map((calls) => calls.ask('samples')))
    return samples.flat()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(
      this.#started.map(async ({ ended }, index) => {
        // One that has died answers nothing any more.
        await Promise.race([this.#calls[index]?.ask('close'), ended])
      }),
    )
    await this.end()
  }

  /** Ends them at once, whatever they do. */
  async end(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#started.map(({ worker }) => worker.terminate()))
  }
}
