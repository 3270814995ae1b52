import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the administration interface, plain and as compressed as it was built. */
export type AdministrationFile = {
  headers: Record<string, string>
  plain: Buffer
  br: Buffer | undefined
  gzip: Buffer | undefined
}

/** The value of `Content-Security-Policy` for the administration interface: its own files and this server alone. */
const securityPolicy = [
  "default-src 'self'",
  // Mantine sets colours and sizes of the theme in style elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const folder = fileURLToPath(new URL('../../dist/admin', import.meta.url))

/** Whether there is an administration interface to serve. */
export function isAdministrationBuilt(): boolean {
  return existsSync(`${folder}/index.html`)
}

/**
 * The administration interface as `npm run build` has built it, each file by its path below `/admin/`; empty where it was
 * not built. Read whole, so that one build is served to the end, also while the next one takes its place.
 */
export function readAdministrationSite(): ReadonlyMap<string, AdministrationFile> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const read = (name: string) => (names.includes(name) ? readFileSync(`${folder}/${name}`) : undefined)
  const files = names.flatMap((name): [string, AdministrationFile][] => {
    const contentType = CONTENT_TYPES[extname(name)]
    if (!contentType) return []
    // The names of these change with their content.
    const isImmutable = name.startsWith('assets/')
    const headers = {
      'Content-Security-Policy': securityPolicy,
      'Content-Type': contentType,
      'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
    }
    const plain = readFileSync(`${folder}/${name}`)
    return [[name, { headers, plain, br: read(`${name}.br`), gzip: read(`${name}.gz`) }]]
  })
  return new Map(files)
}
