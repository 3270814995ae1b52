/**
 * Profiles a server; it is preloaded into each of its threads. `SIGUSR2` starts and stops a recording, alternately of processor
 * time and of allocations. Each thread writes its recording to the folder that the URL of this module names. In JavaScript,
 * because compiling TypeScript would count as a cost of the server.
 */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename, join } from 'node:path'
import { argv, threadCpuUsage } from 'node:process'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

/** Average number of allocated bytes between two samples. */
const SAMPLING_BYTES = 16_384

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '.'
const thread = isMainThread ? 'main' : basename(argv[1] ?? '').replace(/\.js$/, '')
const session = new Session()
session.connect()
await session.post('Profiler.enable')

let recordings = 0
let isRecording = false
let before

async function toggleRecording() {
  const kind = recordings % 2 === 0 ? 'cpu' : 'heap'
  if (!isRecording) {
    isRecording = true
    if (kind === 'cpu') await session.post('Profiler.start')
    else {
      const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
      await session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLING_BYTES, ...all })
    }
    before = threadCpuUsage()
    return
  }
  const { user, system } = threadCpuUsage(before)
  const { profile } = await session.post(kind === 'cpu' ? 'Profiler.stop' : 'HeapProfiler.stopSampling')
  isRecording = false
  recordings += 1
  const recorded = JSON.stringify({ thread, cpu_us: user + system, profile })
  writeFileSync(join(folder, `${kind}-${threadId}.json`), recorded)
}

const channel = new BroadcastChannel('profiling')
channel.unref()
channel.onmessage = () => void toggleRecording()
if (isMainThread) {
  process.on('SIGUSR2', () => {
    channel.postMessage('toggle')
    void toggleRecording()
  })
}
writeFileSync(join(folder, `thread-${threadId}`), thread)
