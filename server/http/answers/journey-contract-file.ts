import { createHash } from 'node:crypto'
import { setImmediate as nextRound } from 'node:timers/promises'
import { dump } from 'js-yaml'
import type { JourneyContract } from '../../domain/journey-contract.ts'
import type { StreamedFile } from './streamed-file.ts'

/**
 * Characters that are made at a time, in about 3 ms: with 4 MiB of definitions the whole takes 0.7 s, in which other
 * requests must be served.
 */
const SLICE_LENGTH = 32 * 1024

/** Returns the contract of a journey as YAML, with the digest of everything that it says. */
export async function journeyContractFile(
  contract: JourneyContract,
  journeyId: string,
): Promise<StreamedFile<'application/yaml'>> {
  const digest = await digestOf(contract)
  return {
    contentType: 'application/yaml',
    name: `${journeyId}.openapi.yaml`,
    digest,
    parts: yamlParts(contract, digest),
  }
}

/** Returns a SHA-256 in base64url. */
async function digestOf({ head, events }: JourneyContract): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(head))
  let length = 0
  for (const event of events()) {
    const text = JSON.stringify(event)
    hash.update(text)
    length += text.length
    if (length < SLICE_LENGTH) continue
    length = 0
    await nextRound()
  }
  return hash.digest('base64url')
}

async function* yamlParts(contract: JourneyContract, digest: string): AsyncGenerator<Uint8Array> {
  let text = ''
  for (const piece of yamlPieces(contract, digest)) {
    text += piece
    if (text.length < SLICE_LENGTH) continue
    yield Buffer.from(text)
    text = ''
    await nextRound()
  }
  yield Buffer.from(text)
}

function* yamlPieces({ head, events }: JourneyContract, digest: string): Generator<string> {
  yield yaml({ ...head, info: { ...head.info, 'x-digest': digest } })
  // `components.schemas` is last.
  for (const [name, schema] of events()) yield yaml({ [name]: schema }).replace(/^(?=.)/gm, '    ')
}

function yaml(value: object): string {
  return dump(value, { noRefs: true, lineWidth: -1 })
}
