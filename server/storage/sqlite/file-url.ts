/** The file of a `sqlite:` URL, whose form the configuration has checked. */
export function sqlitePath(url: string): string {
  return url.replace(/^sqlite:(\/\/(?=\/))?/, '')
}
