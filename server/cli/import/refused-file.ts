import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { parseJsonText } from '../../domain/json-text.ts'
import { createPrivateFile, FILE_MODE } from '../../storage/private-file.ts'
import { isSameFile } from '../../storage/same-file.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import type { RefusedLine } from './importer.ts'
import { unwrapped } from './records.ts'

/** The file of refused lines. It is created with the first one, and replaces that of an earlier run. */
export class RefusedFile {
  readonly path: string
  readonly #isNamed: boolean
  #descriptor: number | undefined

  /**
   * @param path of the file
   * @param options.isNamed whether the user gave the path; a default path must not lead to another file by a link
   * @param options.input the file that is being imported
   * @throws {CommandFailure} if it is the file being imported, cannot be written, or the path is taken by something else
   */
  constructor(path: string, { isNamed, input }: { isNamed: boolean; input: Stats | undefined }) {
    this.path = path
    this.#isNamed = isNamed
    const there = statSync(path, { throwIfNoEntry: false })
    if (isSameFile(there, input)) {
      throw new CommandFailure(
        `${path} is the file being imported; choose another with --refused`,
        ExitCode.usage,
      )
    }
    if (there?.isDirectory()) throw new CommandFailure(`${path} is a folder`, ExitCode.usage)
    if (!isNamed && lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
      throw new CommandFailure(
        `${path} is not a regular file; choose another with --refused`,
        ExitCode.conflict,
      )
    }
    try {
      if (!there) tryToCreate(path)
      // A file at the default path is replaced, for which its folder must be writable.
      else accessSync(isNamed ? path : dirname(path), constants.W_OK)
    } catch {
      throw new CommandFailure(
        `no refused lines could be written to ${path}; choose another with --refused`,
        ExitCode.usage,
      )
    }
  }

  /**
   * Writes one line of JSON: `line_number`, `code`, `detail` and `line`. `line` is the object with its `message_id`, so
   * that it can be imported from another file too; the text, if it is not valid JSON; or null, if it is too long.
   */
  write({ line, code, detail, message_id }: RefusedLine) {
    this.#descriptor ??= this.#open()
    const entry = { line_number: line.number, code, detail, line: contentOf(line.bytes, code, message_id) }
    writeFileSync(this.#descriptor, `${JSON.stringify(entry)}\n`)
  }

  #open(): number {
    if (!this.#isNamed) return createPrivateFile(this.path)
    // A path that the user gave may be a link: `--refused /dev/stderr` is one.
    const descriptor = openSync(this.path, 'w', FILE_MODE)
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, FILE_MODE)
    return descriptor
  }

  close() {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}

/** Creates a file and removes it. A folder may allow writing and yet take no file, or not one with this name. */
function tryToCreate(path: string) {
  closeSync(openSync(path, 'a', FILE_MODE))
  // If the path is a link, what has been created is its target.
  rmSync(realpathSync(path))
}

function contentOf(bytes: Buffer | undefined, code: RefusedLine['code'], message_id: string | undefined) {
  if (!bytes) return null
  const text = bytes.toString('utf8').replace(/^\ufeff|\r$/g, '')
  // Text that is not quite JSON would change if it were parsed and serialized again.
  if (code === 'invalid_json' || code === 'not_an_object') return text
  const object = unwrapped(parseJsonText(text))
  return message_id === undefined ? object : { ...Object(object), message_id }
}
