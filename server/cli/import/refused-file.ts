import { closeSync, openSync, writeSync } from 'node:fs'
import type { RefusedLine } from './importer.ts'
import { unwrapped } from './records.ts'

/** The file of refused lines. It is made with the first one, and takes the place of an earlier run's. */
export class RefusedFile {
  readonly path: string
  #descriptor: number | undefined

  constructor(path: string) {
    this.path = path
  }

  /**
   * Writes one line of JSON: `line_number`, `code`, `detail` and `line`, which is the object with its `message_id`, so
   * that it can be imported from another file too; the text, where it cannot be read; null, where it is too long.
   */
  write({ line, code, detail, message_id }: RefusedLine) {
    // Only the owner may read it: it holds customers' data.
    this.#descriptor ??= openSync(this.path, 'w', 0o600)
    const entry = { line_number: line.number, code, detail, line: contentOf(line.bytes, code, message_id) }
    writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`)
  }

  close() {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}

function contentOf(bytes: Buffer | undefined, code: RefusedLine['code'], message_id: string | undefined) {
  if (!bytes) return null
  const text = bytes.toString('utf8').replace(/^\ufeff|\r$/g, '')
  // What is not quite JSON would change if it were read and written again.
  if (code === 'invalid_json' || code === 'not_an_object') return text
  const object = unwrapped(JSON.parse(text))
  return message_id === undefined ? object : { ...Object(object), message_id }
}
