/**
 * A value as JSON in UTF-8, made in the thread that has read it: to make it of rows on the main thread took 8 ms for each
 * MiB, in which nobody else was served.
 */
export class JsonBytes<Value> {
  readonly bytes: Uint8Array
  /** For the compiler alone. */
  declare readonly value: Value

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
