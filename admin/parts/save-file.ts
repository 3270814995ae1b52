/** What has come is handed to the browser in pieces of this size, which it need not keep in memory. */
const PIECE_BYTES = 16 * 1024 * 1024

/**
 * What an export ends with (contract: "Exports"), as NDJSON or as the JSON of one customer. CSV has rows alone: that its end
 * has come is told by a trailer, which browsers do not show, and by the connection, whose breaking fails the reading.
 */
const ENDS = { csv: /\r\n$/, json: /(^|\n)(\{"end":|\}).*\n$/ }

/** A line that says that it is the last has a few hundred bytes, or the filters' thousands. */
const TAIL_BYTES = 16 * 1024

/** The file ended before it said that it is whole. */
export class CutShortError extends Error {}

/**
 * Lets the browser keep what a server sends as a file, once all of it has come. Nothing is kept of what breaks.
 * @param onBytes hears how much has come
 * @throws {CutShortError} where it has not the end that it must have; else what reading it fails with
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
  if (!end.test(await file.slice(-TAIL_BYTES).text())) throw new CutShortError()
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** The name that the server gives a file. */
export function fileName({ headers }: Response): string {
  return /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'export'
}
