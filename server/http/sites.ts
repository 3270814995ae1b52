import { extname } from 'node:path'
import type { Express, Request, RequestHandler, Response } from 'express'
import type { Contract } from '../contract.ts'
import { apiReference } from '../docs/api-reference.ts'
import { Problem } from '../problems.ts'
import type { ServedStorage } from '../storage/storage.ts'
import { readAdministrationSite } from './administration-site.ts'
import { type Answering, addHeaders, redirect, sendFile, sendStatic } from './answers/answer.ts'
import { sitePolicy } from './answers/security-headers.ts'
import { StaticFile } from './answers/static-file.ts'
import { mayReadMetrics } from './callers/metrics-access.ts'

export type SiteOptions = Answering & {
  contract: Contract
  storage: ServedStorage
  metricsToken: string | undefined
  /** Returns the metrics in Prometheus' text format, with the content type to send. */
  exposition: () => Promise<{ contentType: string; text: string }>
}

/** Mounts everything besides the operations of the contract: documents for people, and the metrics. */
export function mountSites(app: Express, options: SiteOptions) {
  const { contract } = options
  const text = new StaticFile(contract.text)
  app.all(`${contract.basePath}/openapi.yaml`, readOnly, (req, res) => {
    const headers = { 'Content-Type': 'application/yaml; charset=utf-8' }
    return sendStatic(req, res, { headers, file: text }, options)
  })
  mountReference(app, options)
  mountAdministration(app, options)
  app.all('/metrics', (req, res) => sendMetrics(req, res, options))
}

/** Refuses every method but GET and HEAD with 405. */
export const readOnly: RequestHandler = ({ method }, _res, next) => {
  if (method === 'GET' || method === 'HEAD') return next()
  throw new Problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } })
}

function mountReference(app: Express, options: SiteOptions) {
  let site: ReadonlyMap<string, { contentType: string; file: StaticFile }> | undefined
  const readSite = () => {
    const files = [...apiReference({ contract: options.contract.document })]
    return new Map(
      files.map(([name, { contentType, body }]) => [name, { contentType, file: new StaticFile(body) }]),
    )
  }
  app.all('/docs', readOnly, (_req, res) => redirect(res, '/docs/', options))
  app.all('/docs/{*path}', readOnly, async (req, res, next) => {
    // On the first request, because most starts are followed by none.
    site ??= readSite()
    const found = site.get(req.path.slice('/docs/'.length))
    if (!found) return next()
    const { contentType, file } = found
    const headers = { 'Content-Type': contentType, 'Content-Security-Policy': sitePolicy }
    await sendStatic(req, res, { headers, file }, options)
  })
}

/** The administration interface. Its paths are handled in the browser: each of them returns the same page. */
function mountAdministration(app: Express, options: SiteOptions) {
  let site: ReturnType<typeof readAdministrationSite> | undefined
  app.all(['/', '/admin'], readOnly, (_req, res) => redirect(res, '/admin/', options))
  app.use('/admin', readOnly, (req, res) => {
    // On the first request, because most starts are followed by none.
    site ??= readAdministrationSite()
    if (site.size === 0) {
      throw new Problem('not_found', {
        detail: 'The administration interface is not built; run npm run build.',
      })
    }
    const file =
      site.get(req.path.slice(1)) ?? (extname(req.path) === '' ? site.get('index.html') : undefined)
    if (!file) throw new Problem('not_found')
    const { headers, plain, br, gzip } = file
    const encoding = [br && 'br', gzip && 'gzip'].find((name) => name && req.acceptsEncodings(name))
    if (encoding) addHeaders(res, { 'Content-Encoding': encoding })
    const body = { br, gzip }[encoding ?? ''] ?? plain
    sendFile(res, { headers, body }, options)
  })
}

async function sendMetrics(req: Request, res: Response, options: SiteOptions) {
  const { metricsToken, exposition } = options
  if (req.method !== 'GET') throw new Problem('method_not_allowed', { headers: { Allow: 'GET' } })
  if (!mayReadMetrics(req, metricsToken)) {
    // Not 404: the path is documented in deploy/monitoring.md, and an operator should see what is missing.
    throw new Problem('unauthorized', {
      detail:
        'Send CAIRN_METRICS_TOKEN as Authorization: Bearer, or read the metrics at 127.0.0.1 on the machine of the server, ' +
        'without a proxy and without an Authorization header.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  }
  const { contentType, text } = await exposition()
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store' }
  sendFile(res, { headers, body: Buffer.from(text) }, options)
}
