import { randomUUID } from 'node:crypto'
import type { Request, Response } from 'express'
import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutOwnTokens } from '../domain/secret-texts.ts'
import type { ServedMetrics } from '../metrics/served-metrics.ts'
import type { Fault } from '../problems.ts'
import type { LoggedFault } from './log-redaction.ts'

export type RequestLog = {
  log: Logger
  metrics: ServedMetrics
  /** Whether the log contains client addresses. */
  logAddresses: boolean
  /** Redacts the parts of a request for the log. */
  redact: { path: (target: string) => string; faults: (faults: readonly Fault[]) => LoggedFault[] }
}

/** Assigns a request its identifier, and at its end writes its log entry and counts it. */
export function beginRequest(
  req: Request,
  res: Response,
  { log, logAddresses, metrics, redact }: RequestLog,
) {
  const started = performance.now()
  const given = req.get('x-request-id') ?? ''
  // A key or a token sent here by mistake must not be logged.
  const isValid = /^[A-Za-z0-9_.:-]{1,128}$/.test(given) && withoutOwnTokens(given) === given
  const requestId = isValid ? given : randomUUID()
  res.locals.requestId = requestId
  const { address } = res.locals
  res.locals.headers = { 'X-Request-Id': requestId }
  res.once('close', () => {
    const { operation, key_id, person_id, code, rejected, faults = [] } = res.locals
    const duration_ms = Math.round((performance.now() - started) * 1000) / 1000
    const status = res.headersSent && !res.locals.isCut ? res.statusCode : 'aborted'
    metrics.requestEnded({ operation, status, code, duration_ms })
    logFields(log, {
      request_id: requestId,
      address: logAddresses ? address : undefined,
      method: req.method,
      operation,
      path: operation === undefined ? redact.path(req.originalUrl) : undefined,
      status,
      code,
      errors: faults.length > 0 ? redact.faults(faults) : undefined,
      // Number of rejected items of a batch, by code.
      rejected,
      key_id,
      person_id,
      duration_ms,
    })
  })
}

/**
 * Logs fields without a message, as `log.info` does, but without its general serializer, which takes 1.5 µs longer per
 * request line.
 */
function logFields(log: Logger, fields: object): void {
  if (!log.isLevelEnabled('info')) return
  const { [pino.symbols.streamSym]: stream, [pino.symbols.chindingsSym]: bindings } = log as unknown as Inner
  stream.write(`{"level":30,"time":${Date.now()}${bindings},${JSON.stringify(fields).slice(1)}\n`)
}

/** Internals of a pino logger: its destination, and the fields of every line, as JSON after a comma. */
type Inner = { [pino.symbols.streamSym]: DestinationStream; [pino.symbols.chindingsSym]: string }
