/**
 * The module of a thread: TypeScript as it is written here, JavaScript in a release.
 * @param name of the file, without its extension
 * @param starter `import.meta.url` of the module beside it that starts the thread
 */
export function threadModule(name: string, starter: string): URL {
  return new URL(`./${name}${starter.endsWith('.js') ? '.js' : '.ts'}`, starter)
}
