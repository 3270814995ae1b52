import express, { type ErrorRequestHandler, type Express } from 'express'
import proxyaddr from 'proxy-addr'
import { Problem } from '../problems.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { addHeaders, answer, refuse, sendReply } from './answers/answer.ts'
import { corsHeaders, preflightHeaders } from './answers/cors.ts'
import { senderAddress } from './callers/sender-address.ts'
import { unknownProxyWarning } from './callers/unknown-proxy.ts'
import { loggedFaults, loggedPaths } from './log-redaction.ts'
import { assertHead } from './malformed-http.ts'
import { beginRequest } from './request-log.ts'
import { noteBegun } from './requests-by-socket.ts'
import { type ServeOptions, serveOperation } from './serve-operation.ts'
import { mountSites, readOnly, type SiteOptions } from './sites.ts'

export type AppOptions = SiteOptions &
  ServeOptions & {
    /** Addresses and networks of proxies whose `X-Forwarded-…` headers are trusted. */
    trustedProxies: readonly string[]
    /** Whether the log contains client addresses. */
    logAddresses: boolean
    /** Writes to the store; rejects if that is not possible now. */
    assertWritable: () => Promise<void>
  }

/** The response to a probe. */
const OK = { status: 200, body: { status: 'ok' } }

/** Creates the Express app. It is the complete path of a request, in order. */
export function createApp(options: AppOptions): Express {
  const { contract } = options
  const warnOfUnknownProxy = unknownProxyWarning(options)
  const redact = {
    path: loggedPaths(contract.routes.map(({ path }) => path)),
    faults: loggedFaults(contract.document),
  }
  const logging = { ...options, redact }
  const app = express()
  app.set('strict routing', true)
  app.set('case sensitive routing', true)
  app.set('query parser', false)
  app.set('etag', false)
  const isTrusted = proxyaddr.compile([...options.trustedProxies])
  app.set('trust proxy', isTrusted)
  app.disable('x-powered-by')
  app.use((req, res, next) => {
    // Read now, because a closed connection has no address any more.
    const address = senderAddress(req, (address) => isTrusted(address, 0))
    res.locals.address = address
    beginRequest(req, res, logging)
    warnOfUnknownProxy(req.headers, address)
    if (!noteBegun(res)) return
    assertHead(req)
    // Only pipelined reads wait for each other: a client that pipelines events wants them committed together (group commit).
    if (req.method === 'GET') options.answers.afterEarlier(req, res, next)
    else next()
  })

  for (const path of new Set(contract.routes.map((route) => route.path))) {
    mountPath(app, path, options)
  }
  mountSites(app, options)

  app.all('/healthz', readOnly, (req, res) => sendReply(req, res, OK, options))
  app.all('/readyz', readOnly, async (req, res) => {
    if (options.isStopping()) throw new Unavailable('shutting_down')
    await options.assertWritable()
    await sendReply(req, res, OK, options)
  })
  app.use((_req, res) => refuse(res, new Problem('not_found'), options))
  const onError: ErrorRequestHandler = (error, _req, res, _next) => refuse(res, error, options)
  app.use(onError)
  return app
}

/**
 * Mounts all methods of one path: those of the contract, the preflight if browsers may call it, and 405 for the rest.
 */
function mountPath(app: Express, path: string, options: AppOptions) {
  const routes = options.contract.routes.filter((route) => route.path === path)
  const isForBrowsers = routes.some((route) => route.accepts.includes('publishable'))
  const methods = routes.map((route) => route.method)
  const allow = (isForBrowsers ? [...methods, 'OPTIONS'] : methods).join(', ')

  app.all(path, async (req, res) => {
    if (isForBrowsers) addHeaders(res, corsHeaders)
    const route = routes.find((route) => route.method === req.method)
    if (route) return await serveOperation(route, req, res, options)
    if (isForBrowsers && req.method === 'OPTIONS') {
      addHeaders(res, preflightHeaders)
      answer(res, { status: 204 }, options)
    } else {
      refuse(res, new Problem('method_not_allowed', { headers: { Allow: allow } }), options)
    }
  })
}
