import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes for Node's server to make requests and responses of. They have the prototypes that Express would give to each
 * one by `Object.setPrototypeOf`, which does nothing then: to change the prototype of an object that is in use costs a
 * request 5 % of its processor time.
 */
export function expressMessages(app: Express) {
  class Request extends IncomingMessage {}
  class Response<Of extends IncomingMessage> extends ServerResponse<Of> {}
  for (const [name, { prototype }] of Object.entries({ request: Request, response: Response })) {
    Object.setPrototypeOf(prototype, Reflect.get(app, name))
    Reflect.set(app, name, prototype)
  }
  return { IncomingMessage: Request, ServerResponse: Response }
}
