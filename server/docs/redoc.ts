import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'

/**
 * Redoc as the files of a site that asks no other host for anything and runs nothing but its own files. Throws where
 * Redoc is not built as expected.
 */
export function redocFiles() {
  const path = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
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
