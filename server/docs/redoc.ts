import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

/** Where to find Redoc: it is a development dependency; for other installations `npm run build` copies it. */
const places = ['../../node_modules/redoc', '../../dist/redoc'].map((folder) =>
  fileURLToPath(new URL(`${folder}/bundles/redoc.standalone.js`, import.meta.url)),
)

/** Used if Redoc is in neither place: says what to do. */
const notBuilt = {
  script: `globalThis.Redoc = {
  init() {
    document.querySelector('#reference').textContent = 'The API reference is not built; run npm run build.'
  },
}
`,
  searchWorker: '',
  licenses: '',
}

/**
 * Redoc as the files of a site that needs no other host and runs only its own files.
 * @throws {Error} if Redoc's bundle does not have the expected form
 */
export function redocFiles() {
  const path = places.find(existsSync)
  if (path === undefined) return notBuilt
  const bundle = readFileSync(path, 'utf8')

  // Redoc contains its search worker as a string and starts it from a blob: URL, which the policy would have to allow.
  const search = /new Worker\(URL\.createObjectURL\(new Blob\(\[('[^'\\]*(?:\\.[^'\\]*)*')\]\)\)/.exec(bundle)
  if (!search?.[1]) throw new Error(`${path} does not start its search as expected.`)
  const [blobWorker, stringLiteral] = search
  const searchWorker: string = runInNewContext(stringLiteral)

  return {
    script: withoutSourceMap(bundle)
      .replace(blobWorker, () => 'new Worker("redoc-search.js"')
      // The logo in the menu comes from another host. Redoc omits an image that fails to load.
      .replace('https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'),
    searchWorker: withoutSourceMap(searchWorker),
    licenses: licenses(dirname(path)),
  }
}

/** The source map is not part of the site: browsers with open developer tools would request it and get 404. */
function withoutSourceMap(script: string) {
  return script.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}

/** The licences of Redoc and of what is bundled in it. */
function licenses(bundles: string) {
  const names = readdirSync(bundles).filter((name) => name.endsWith('.LICENSE.txt'))
  return [join('..', 'LICENSE'), ...names]
    .map((name) => readFileSync(join(bundles, name), 'utf8'))
    .join('\n\n')
}
