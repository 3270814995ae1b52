import { load } from 'js-yaml'

/** The contract as a document. The built server has it read already: that takes a tenth of a second of every start. */
export function contractDocument(text: string): unknown {
  return load(text)
}
