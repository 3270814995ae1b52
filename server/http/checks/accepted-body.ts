import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ContractDocument } from './contract-document.ts'

/** Whether a body is valid by its schema. */
type Acceptance = (body: unknown) => boolean

/** The name under which the contract's schemas refer to each other. */
const CONTRACT = 'contract'

/**
 * Compiles schemas of the contract into checks that only accept. A valid body takes 1 µs in such a check and 8 µs in
 * express-openapi-validator. Only the latter rejects: it checks every body that is not accepted here, and formulates the
 * faults. Each check is compiled at its first call.
 */
export function acceptedBodies({ components }: ContractDocument): (schema: object) => Acceptance {
  // The lint checks the contract. The fast formats accept the date 2023-02-30.
  const ajv = addFormats.default(new Ajv2020({ strict: false, validateSchema: false }), { mode: 'full' })
  ajv.addSchema({ $id: CONTRACT, components })
  return (schema) => {
    let isValid: Acceptance | undefined
    return (body) => {
      isValid ??= ajv.compile(absolute(schema))
      return isValid(body)
    }
  }
}

/** Returns the schema; if it is a reference, one that is resolved in the contract. */
function absolute(schema: object): object {
  return '$ref' in schema ? { $ref: `${CONTRACT}${schema.$ref}` } : schema
}
