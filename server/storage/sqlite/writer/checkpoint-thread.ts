/** A thread that moves a long log into the file while the writer goes on; it waits for nobody and holds up nobody. */
import { parentPort, workerData } from 'node:worker_threads'
import { openWritable } from '../connection.ts'

const connection = openWritable(workerData.path, { create: false })

parentPort?.on('message', (request: 'move' | 'close') => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
    return
  }
  try {
    connection.pragma('wal_checkpoint(PASSIVE)')
  } catch {
    // The disk is full, or fails: whoever writes will be told. It is asked for again.
  }
  parentPort?.postMessage('moved')
})
