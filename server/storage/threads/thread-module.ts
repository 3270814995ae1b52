/**
 * The module of a thread: TypeScript in development, JavaScript in a release.
 * @param name of the file, without its extension
 * @param starter `import.meta.url` of the module in the same folder that starts the thread
 */
export function threadModule(name: string, starter: string): URL {
  return new URL(`./${name}${starter.endsWith('.js') ? '.js' : '.ts'}`, starter)
}
