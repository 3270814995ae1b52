/** Development: `npm run docs` writes the API reference as a static site to dist/docs, or to the given folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { load } from 'js-yaml'
import { apiReference } from './api-reference.ts'

const folder = process.argv[2] ?? join('dist', 'docs')
const site = apiReference({ contract: load(readFileSync('openapi.yaml', 'utf8')) as object })

for (const [path, { body }] of site) {
  // A file and a folder cannot have the same name, so the page is written as the folder's index.
  if (site.has(`${path}/`)) continue
  const target = join(folder, path === '' || path.endsWith('/') ? `${path}index.html` : path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, body)
}
process.stdout.write(`The API reference is in ${folder}. Any host can serve it, from any path.\n`)
