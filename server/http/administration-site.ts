import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sitePolicy } from './answers/security-headers.ts'

/** A file of the administration interface, plain and in the compressed forms that the build made. */
export type AdministrationFile = {
  headers: Record<string, string>
  plain: Buffer
  br: Buffer | undefined
  gzip: Buffer | undefined
}

const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const folder = fileURLToPath(new URL('../../dist/admin', import.meta.url))

/** Whether the administration interface is built. */
export function isAdministrationBuilt(): boolean {
  return existsSync(`${folder}/index.html`)
}

/**
 * Reads the administration interface that `npm run build` has built, each file by its path below `/admin/`; empty if it
 * is not built. Read into memory, so that one build is served consistently while the next one replaces it.
 */
export function readAdministrationSite(): ReadonlyMap<string, AdministrationFile> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const read = (name: string) => (names.includes(name) ? readFileSync(`${folder}/${name}`) : undefined)
  const files = names.flatMap((name): [string, AdministrationFile][] => {
    const contentType = CONTENT_TYPES[extname(name)]
    if (!contentType) return []
    // The names of these files change with their content.
    const isImmutable = name.startsWith('assets/')
    const headers = {
      'Content-Security-Policy': sitePolicy,
      'Content-Type': contentType,
      'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
      // A page that somebody without an account can open is in no search result.
      ...(name.endsWith('.html') && { 'X-Robots-Tag': 'noindex' }),
    }
    const plain = readFileSync(`${folder}/${name}`)
    return [[name, { headers, plain, br: read(`${name}.br`), gzip: read(`${name}.gz`) }]]
  })
  return new Map(files)
}
