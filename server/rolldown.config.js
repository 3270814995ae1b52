/**
 * How the server is built into dist/server: JavaScript in few files, which Node loads in a fraction of the time that it needs
 * for the hundreds of modules as they are written, and each thread for TypeScript besides.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { load } from 'js-yaml'

const server = import.meta.dirname

/** Each thread is started from a file of its own; the name tells its folder, and all lie side by side. */
const threads = readdirSync(server, { recursive: true }).filter((file) => file.endsWith('-thread.ts'))
const nameOf = (file) => file.replace(/\.ts$/, '').split(sep).join('.')

/** Names the files of the threads as they are here; all else that a module reads lies beside it where it was written. */
const places = {
  name: 'places',
  transform(code, id) {
    if (!id.startsWith(server + sep)) return null
    const folder = relative(server, dirname(id))
    const placed = code.replace(/threadModule\('([\w-]+)', import\.meta\.url\)/g, (_, thread) => {
      if (!threads.includes(join(folder, `${thread}.ts`)))
        this.error(`${id}: there is no ${thread}.ts beside it`)
      return `new URL('./${nameOf(join(folder, thread))}.js', import.meta.url)`
    })
    const file = relative(resolve(server, '..'), id).split(sep).join('/')
    return placed.replace(/(?<!\.js', )import\.meta\.url/g, `new URL('../../${file}', import.meta.url).href`)
  },
}

/** What every start would do again with the same result. */
const prepared = {
  name: 'prepared',
  resolveId(id, importer) {
    // The validator compiles OpenAPI's own schema (0.2 s), with which it is told not to check the contract: the lint does.
    const isCheck = id === './openapi.schema.validator' && importer?.includes('/express-openapi-validator/')
    return isCheck ? NO_CHECK : null
  },
  load(id) {
    if (id === NO_CHECK) return 'export class OpenAPISchemaValidator {}'
    if (id !== join(server, 'contract-document.ts')) return null
    const contract = JSON.stringify(load(readFileSync(join(server, '..', 'openapi.yaml'), 'utf8')))
    return `const contract = ${JSON.stringify(contract)}; export const contractDocument = () => JSON.parse(contract)`
  },
}
const NO_CHECK = '\0no-check-of-the-contract'

// biome-ignore lint/style/noDefaultExport: rolldown reads the default export
export default {
  input: {
    commands: join(server, 'cli', 'commands.ts'),
    ...Object.fromEntries(threads.map((file) => [nameOf(file), join(server, file)])),
  },
  platform: 'node',
  logLevel: 'warn',
  // Compiled for the machine, and what pg would use of that kind.
  external: ['argon2', 'better-sqlite3', 'pg-native'],
  plugins: [places, prepared],
  output: { dir: resolve(server, '..', 'dist', 'server'), format: 'esm', cleanDir: true },
}
