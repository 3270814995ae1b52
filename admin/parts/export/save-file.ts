import { ExplainedError } from '../../problem.ts'
import { saveBlob } from './save-blob.ts'

/** Received data is handed to the browser in Blobs of this size, which it does not have to keep in memory. */
const PIECE_BYTES = 16 * 1024 * 1024

/**
 * How a complete export ends (contract: "Exports"): NDJSON, or the JSON of one customer. CSV contains only rows: its end is
 * marked by a trailer, which browsers do not expose, and a broken connection makes reading fail.
 */
const ENDS = { csv: /\r\n$/, json: /(^|\n)(\{"end":|\}).*\n$/ }

/** The closing line has a few hundred bytes, or a few thousand with long filters. */
const TAIL_BYTES = 16 * 1024

/**
 * Saves a response as a file once all of it has been received. An incomplete file is not saved.
 * @param onBytes called with the bytes received so far
 * @throws {ExplainedError} if the closing line is missing; otherwise the error of reading
 */
export async function saveFile(
  { body, name }: { body: ReadableStream<Uint8Array<ArrayBuffer>>; name: string },
  onBytes: (bytes: number) => void,
): Promise<void> {
  let file = new Blob()
  let piece: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = body.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    piece.push(read.value)
    bytes += read.value.length
    onBytes(bytes)
    if (bytes - file.size < PIECE_BYTES) continue
    file = new Blob([file, ...piece])
    piece = []
  }
  file = new Blob([file, ...piece])
  const end = name.endsWith('.csv') ? ENDS.csv : ENDS.json
  if (!end.test(await file.slice(-TAIL_BYTES).text())) {
    throw new ExplainedError(
      'The download is incomplete',
      'The file ended before its last line and was not saved. Try again.',
    )
  }
  saveBlob(file, name)
}

/** The file name in the server's `Content-Disposition`. */
export function fileName({ headers }: Response): string {
  return /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'export'
}
