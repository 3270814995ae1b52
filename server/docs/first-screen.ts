type Contract = {
  info: { version: string; license: { name: string }; description: string }
  paths: Record<string, Record<string, Operation>>
}
type Operation = {
  operationId: string
  responses: Record<string, { content?: Record<string, { examples: Record<string, { value: unknown }> }> }>
  'x-codeSamples': readonly { label: string; source: string }[]
}

/**
 * Returns the contract with an introduction for Redoc's first screen: the purpose; beside it the base URL, the header and a
 * request with its response; the version and the licence last.
 * @param contract with samples of requests
 */
export function withFirstScreen(contract: object): object {
  const { info, ...rest } = contract as Contract
  const { license, version, ...shown } = info
  const [purpose = '', ...sections] = info.description.split(/^(?=# )/m)
  const about = `Version ${version} · ${license.name} licence · [openapi.json](openapi.json)`
  const description = [purpose, firstRequest(rest.paths), about, sections.join('')].join('\n\n')
  // Redoc would show the version and the licence before everything else.
  return { ...rest, info: { ...shown, version: '', description } }
}

/** Positioned by reference.css. */
function firstRequest(paths: Contract['paths']): string {
  const { 'x-codeSamples': samples, responses } = operation(paths, 'createEvent')
  const curl = samples.find(({ label }) => label === 'curl')?.source ?? ''
  const url = /https?:\S+?\/v1/.exec(curl)?.[0]
  const [reply] = Object.values(responses['201']?.content?.['application/json']?.examples ?? {})
  return `<div class="first-request">

**Base URL, and the header of every request**

\`\`\`
${url}
x-service-key: pk_… or sk_…
\`\`\`

**Store an event**

\`\`\`sh
${curl}
\`\`\`

**201**

\`\`\`json
${JSON.stringify(reply?.value, null, 2)}
\`\`\`

</div>`
}

function operation(paths: Contract['paths'], operationId: string): Operation {
  const found = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .find((operation) => operation.operationId === operationId)
  if (!found) throw new Error(`The contract has no operation ${operationId}.`)
  return found
}
