/**
 * A value as JSON in UTF-8, so that it is made once: of many rows in the thread that has read them, because on the main
 * thread that took 8 ms for each MiB, in which nobody else was served.
 */
export class JsonBytes<Value> {
  readonly bytes: Uint8Array
  /** For the compiler alone. */
  declare readonly value: Value

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
