/**
 * A value that is already JSON in UTF-8. The thread that reads many rows serializes them: on the main thread it took 8
 * ms per MiB, during which nothing else was served.
 */
export class JsonBytes<Value> {
  readonly bytes: Uint8Array
  /** For type checking only. */
  declare readonly value: Value

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
