/** A thread that runs checkpoints of a long write-ahead log while the writer continues; it neither waits nor blocks. */
import { parentPort, workerData } from 'node:worker_threads'
import { openWritable } from '../connection.ts'

const connection = openWritable(workerData.path, { create: false })

parentPort?.on('message', (request: 'checkpoint' | 'close') => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
    return
  }
  try {
    connection.pragma('wal_checkpoint(PASSIVE)')
  } catch {
    // The disk is full or failing: the next write reports that, and the checkpoint is requested again.
  }
  parentPort?.postMessage('checkpointed')
})
