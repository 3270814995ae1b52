import { parse as parseUrl } from 'node:url'
import type { RequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import type { ContractDocument } from '../../contract-document.ts'
import type { ValidatorError } from './faults.ts'

/**
 * The two steps of express-openapi-validator that are used. Each operation has its own route in Express, so that the
 * validator's search for the path, which compiles every path's expression on each request, is done once at boot:
 * 49 µs a request with 30 operations, 5 µs without it. The steps are known by name only, hence the exact version in
 * package.json.
 */
export function validatorSteps(apiSpec: ContractDocument): {
  metadata: RequestHandler
  request: RequestHandler
} {
  warnSilentlyOfUrlParse()
  const steps = middleware({
    apiSpec: apiSpec as never,
    // At a reference the compiled check copies all faults so far: 2.6 s for 20,000 wrong items, 0.1 s without.
    $refParser: { mode: 'dereference' },
    // The lint has done it. Here it would take a tenth of a second of every start.
    validateApiSpec: false,
    validateRequests: { allErrors: true, allowUnknownQueryParameters: true },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The fast formats accept 2023-02-30.
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
 * Until it has warned once that `url.parse` is deprecated, Node looks at the call stack each time to see who calls: 8 µs
 * of every request, in the validator. The warning is for the validator's authors.
 */
function warnSilentlyOfUrlParse() {
  const { noDeprecation = false } = process
  process.noDeprecation = true
  parseUrl('')
  process.noDeprecation = noDeprecation
}

/** What the validator finds out about an operation, by a request that it would match. Fails with a bad contract. */
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

/** What the validator refuses of a request, with all its faults. @throws what is no fault of the request */
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
