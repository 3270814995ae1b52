/**
 * Bundles the server into dist/server: a few JavaScript files, which load in a fraction of the time that Node takes for
 * hundreds of modules and, in each thread, for TypeScript.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { load } from 'js-yaml'

const server = join(import.meta.dirname, '..')

/** Each thread starts from its own file. Its name contains its folder, because all files are in one folder. */
const threads = readdirSync(server, { recursive: true }).filter((file) => file.endsWith('-thread.ts'))
const nameOf = (file) => file.replace(/\.ts$/, '').split(sep).join('.')

/** Points thread modules to their bundled files; other files that a module reads stay where the source is. */
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

/** Work that every start would repeat with the same result. */
const prepared = {
  name: 'prepared',
  resolveId(id, importer) {
    // The validator compiles OpenAPI's own schema (0.2 s) although it does not check the contract here; the lint does.
    const isCheck = id === './openapi.schema.validator' && importer?.includes('/express-openapi-validator/')
    return isCheck ? NO_CHECK : null
  },
  load(id) {
    if (id === NO_CHECK) return 'export class OpenAPISchemaValidator {}'
    if (id !== join(server, 'http', 'checks', 'contract-document.ts')) return null
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
  // Compiled for the machine, and the optional native module of pg.
  external: ['argon2', 'better-sqlite3', 'pg-native'],
  plugins: [places, prepared],
  output: { dir: resolve(server, '..', 'dist', 'server'), format: 'esm', cleanDir: true },
}
