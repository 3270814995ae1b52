import { parse as parseUrl } from 'node:url'
import type { RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import type { ContractDocument } from './contract-document.ts'
import type { ValidatorError } from './faults.ts'

/**
 * Returns the two middlewares of express-openapi-validator that are used. Each operation has its own route in Express,
 * so the validator's path search, which compiles every path's expression on each request, runs once at start: with 30
 * operations a request takes 49 µs with it and 5 µs without. The middlewares are known by name only, hence the exact
 * version in package.json.
 * @param references `dereference`, unless a schema contains itself: with references kept (`bundle`), the compiled check
 *   copies all previous faults at each one, which takes 2.6 s for 20,000 invalid items, and 0.1 s without
 */
export function validatorSteps(
  apiSpec: ContractDocument,
  references: 'dereference' | 'bundle',
): {
  metadata: RequestHandler
  request: RequestHandler
} {
  warnSilentlyOfUrlParse()
  const steps = middleware({
    apiSpec: apiSpec as never,
    $refParser: { mode: references },
    // The lint checks it. Here it would add a tenth of a second to every start.
    validateApiSpec: false,
    validateRequests: { allErrors: true, allowUnknownQueryParameters: true },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The fast formats accept the date 2023-02-30.
    ajvFormats: { mode: 'full' },
    fileUploader: false,
  })
  const step = (name: string) => {
    const found = steps.find((step) => step.name === name)
    if (!found)
      throw new Error(`express-openapi-validator has no ${name}; is it the exact version of package.json?`)
    return found as RequestHandler
  }
  return { metadata: step('metadataMiddleware'), request: step('requestMiddleware') }
}

/**
 * Triggers Node's deprecation warning for `url.parse` once, silently. Until it has been issued, Node inspects the call
 * stack on every call to find the caller: 8 µs per request, in the validator. Only the validator's authors can act on
 * it.
 */
function warnSilentlyOfUrlParse() {
  const { noDeprecation = false } = process
  process.noDeprecation = true
  parseUrl('')
  process.noDeprecation = noDeprecation
}

/**
 * Runs the validator's metadata middleware once with a matching request and returns the result. Fails for an invalid
 * contract.
 */
export async function operationMetadata(metadata: RequestHandler, method: string, template: string) {
  const app = { enabled: () => true }
  const req = { method, path: template, originalUrl: template, baseUrl: '', app, openapi: undefined }
  await new Promise<void>((resolve, reject) => {
    metadata(req as never, {} as never, (error?: unknown) => (error ? reject(error) : resolve()))
  })
  if (!req.openapi) throw new Error(`express-openapi-validator does not find ${method} ${template}`)
  return req.openapi as object
}

const NO_FAULTS: readonly ValidatorError[] = []

/** Returns all faults that the validator finds in a request. @throws any error that is not a fault of the request */
export async function refusedBy(step: RequestHandler, request: object): Promise<readonly ValidatorError[]> {
  try {
    await new Promise<void>((resolve, reject) => {
      step(request as never, {} as never, (error?: unknown) => (error ? reject(error) : resolve()))
    })
    return NO_FAULTS
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 400 && 'errors' in error) {
      return error.errors as ValidatorError[]
    }
    throw error
  }
}
