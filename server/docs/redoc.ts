import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

/** Redoc is a development package; `npm run build` copies what an installation without it needs. */
const places = ['../../node_modules/redoc', '../../dist/redoc'].map((folder) =>
  fileURLToPath(new URL(`${folder}/bundles/redoc.standalone.js`, import.meta.url)),
)

/** Replaces Redoc if it is in neither place, with a message that says what to do. */
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
 * Returns Redoc as files of a site that contacts no other host and runs only its own files.
 * @throws {Error} if the bundle is not as expected
 */
export function redocFiles() {
  const path = places.find(existsSync)
  if (path === undefined) return notBuilt
  const bundle = readFileSync(path, 'utf8')

  // Redoc embeds its search as a string and starts it from a blob: URL, which the policy would have to allow.
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

/** Removes the reference to a source map, which the site does not have: developer tools would request it in vain. */
function withoutSourceMap(script: string) {
  return script.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}

/** The licences of Redoc and of the packages bundled in it. */
function licenses(bundles: string) {
  const names = readdirSync(bundles).filter((name) => name.endsWith('.LICENSE.txt'))
  return [join('..', 'LICENSE'), ...names]
    .map((name) => readFileSync(join(bundles, name), 'utf8'))
    .join('\n\n')
}
