import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

/** Where Redoc is: a package for development, of which `npm run build` keeps what is needed for an installation without. */
const places = ['../../node_modules/redoc', '../../dist/redoc'].map((folder) =>
  fileURLToPath(new URL(`${folder}/bundles/redoc.standalone.js`, import.meta.url)),
)

/** In place of Redoc, where neither is: says what to do. */
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
 * Redoc as the files of a site that asks no other host for anything and runs nothing but its own files. Throws where
 * Redoc is not built as expected.
 */
export function redocFiles() {
  const path = places.find(existsSync)
  if (path === undefined) return notBuilt
  const bundle = readFileSync(path, 'utf8')

  // Redoc carries its search as a string and starts it from a blob: URL, which the policy would have to allow.
  const search = /new Worker\(URL\.createObjectURL\(new Blob\(\[('[^'\\]*(?:\\.[^'\\]*)*')\]\)\)/.exec(bundle)
  if (!search?.[1]) throw new Error(`${path} does not start its search as expected.`)
  const [blobWorker, stringLiteral] = search
  const searchWorker: string = runInNewContext(stringLiteral)

  return {
    script: withoutSourceMap(bundle)
      .replace(blobWorker, () => 'new Worker("redoc-search.js"')
      // The logo in the menu comes from another host. An image that fails to load is left out by Redoc itself.
      .replace('https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'),
    searchWorker: withoutSourceMap(searchWorker),
    licenses: licenses(dirname(path)),
  }
}

/** The map is not part of the site: a browser with its tools open would ask for it in vain. */
function withoutSourceMap(script: string) {
  return script.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}

/** The terms under which Redoc, and what is bundled in it, may be handed on. */
function licenses(bundles: string) {
  const names = readdirSync(bundles).filter((name) => name.endsWith('.LICENSE.txt'))
  return [join('..', 'LICENSE'), ...names]
    .map((name) => readFileSync(join(bundles, name), 'utf8'))
    .join('\n\n')
}
