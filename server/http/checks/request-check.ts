import type { Request as ExpressRequest } from 'express'
import { areEnough, Problem } from '../../problems.ts'
import type { LoopTime } from '../rates/loop-scheduler.ts'
import { acceptedBodies } from './accepted-body.ts'
import { bodyParts, bodyShape, inWhole, lengthFaults } from './body-parts.ts'
import type { ContractDocument, DeclaredOperation } from './contract-document.ts'
import { distinct, faultsOf, refusalTexts } from './faults.ts'
import { type Parameter, readQuery } from './query.ts'
import { isRecursive, requestPart } from './request-part.ts'
import { operationMetadata, refusedBy, validatorSteps } from './validator.ts'

/** The parts of a request that are checked besides its body. */
type CheckedRequest = Pick<ExpressRequest, 'method' | 'originalUrl' | 'headers' | 'params'>

/** What the contract allows of a request. */
type Allowed = { body: unknown; path: Record<string, unknown>; query: Record<string, unknown> }

/**
 * Checks a request to one operation against the contract.
 * @param loop time of the event loop; a long list is checked in slices
 * @throws {Problem} `invalid_request` with every fault, up to a limit slightly above what the response lists, if the
 *   request violates the contract
 */
export type RequestCheck<Request = Allowed> = (
  req: CheckedRequest,
  body: unknown,
  loop: LoopTime,
) => Promise<Request>

/** Shared by all requests whose path has no parameters; nothing writes to it. */
const NO_PARAMETERS = Object.freeze({})

/**
 * Prepares the checks of requests against the contract.
 * @returns a function that prepares the check of one operation; its template is that of the whole path
 */
export function requestChecks(document: ContractDocument) {
  const refusals = refusalTexts(document)
  const acceptanceOf = acceptedBodies(document)
  // Copies, because the validator modifies the document that it gets.
  const flat = validatorSteps(requestPart(withRecursion(document, false)), 'dereference')
  const recursive = validatorSteps(requestPart(withRecursion(document, true)), 'bundle')
  return async (method: string, template: string, declared: DeclaredOperation): Promise<RequestCheck> => {
    const validator = hasRecursion(document, declared) ? recursive : flat
    const metadata = await operationMetadata(validator.metadata, method, template)
    const parameters = (declared.parameters ?? []).map((parameter) =>
      resolve<Parameter & { in: string }>(document, 'parameters', parameter),
    )
    const query = parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => ({
        name,
        schema: resolve<Parameter['schema']>(document, 'schemas', schema),
      }))
    const bodySchema = declared.requestBody?.content['application/json'].schema
    const shape = bodyShape(bodySchema, (schema) => resolve(document, 'schemas', schema))
    const isAccepted = bodySchema && acceptanceOf(bodySchema)
    // The validator also checks parameters.
    const isBodyAlone = parameters.every((parameter) => parameter.in === 'query')
    const hasPathParams = template.includes('{')
    const withoutPathParams = { ...metadata, pathParams: NO_PARAMETERS }
    return async (req, body, loop) => {
      if (isBodyAlone && !req.originalUrl.includes('?') && isAccepted?.(body)) {
        return { body, path: NO_PARAMETERS, query: {} }
      }
      const { values, faults: ofQuery } = readQuery(req.originalUrl, query)
      const pathParams: Record<string, unknown> = hasPathParams ? { ...req.params } : NO_PARAMETERS
      // A separate object: redefining properties of Express's request takes longer than the check. The validator
      // parses the URL only for its query, which takes 5 µs.
      const request = {
        method: req.method,
        headers: req.headers,
        originalUrl: query.length > 0 && req.originalUrl.includes('?') ? req.originalUrl : '',
        params: req.params,
        query: values,
        openapi: hasPathParams ? { ...metadata, pathParams } : withoutPathParams,
        body,
      }
      let faults = [...ofQuery, ...lengthFaults(body, shape)]
      for (const part of bodyParts(body, shape)) {
        if (part.from > 0) await loop.next()
        request.body = part.body
        const found = await refusedBy(validator.request, request)
        if (found.length > 0) {
          const worded = faultsOf(found, { body: part.body, refusals })
          faults = distinct([...faults, ...worded.map((fault) => inWhole(fault, shape, part))])
        }
        if (areEnough(faults)) break
      }
      if (faults.length > 0) throw new Problem('invalid_request', { faults: distinct(faults) })
      return { body, path: pathParams, query: request.query }
    }
  }
}

/** The contract with those operations alone whose body is of a schema that contains itself, or with the others. */
function withRecursion(document: ContractDocument, isWanted: boolean): ContractDocument {
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const kept = Object.entries(methods).filter(
      ([, declared]) => hasRecursion(document, declared) === isWanted,
    )
    return [path, Object.fromEntries(kept)] as const
  })
  return {
    ...document,
    paths: Object.fromEntries(paths.filter(([, methods]) => Object.keys(methods).length > 0)),
  }
}

function hasRecursion({ components }: ContractDocument, { requestBody }: DeclaredOperation): boolean {
  return isRecursive(requestBody, components)
}

/** Resolves a `$ref` into `components`; returns any other value unchanged. */
function resolve<T>(document: ContractDocument, place: 'parameters' | 'schemas', value: unknown): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const name = String(value.$ref).replace(`#/components/${place}/`, '')
  return document.components[place]?.[name] as T
}
