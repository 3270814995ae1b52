import { STATUS_CODES } from 'node:http'
import { type ProblemCode, problems } from '../problems.ts'
import { escapeHtml, page } from './page.ts'

type ProblemsPage = {
  /** The path to the site's folder. */
  root: '.' | '..'
  /** The operations that answer a code. */
  answeredBy: ReadonlyMap<string, readonly string[]>
}

/**
 * The page that the `type` of every problem names: each code with its status, what it means, what to change and which
 * operations return it, under an id equal to the code.
 */
export function problemsPage({ root, answeredBy }: ProblemsPage): string {
  const codes = Object.keys(problems) as ProblemCode[]
  const groups = [...Map.groupBy(codes, (code) => problems[code].status)].map(([status, codes]) => ({
    heading: escapeHtml(`${status} ${STATUS_CODES[status]}`),
    codes,
  }))
  const content = `<main class="text">
<h1>Problems</h1>
<p>Every error reply is an <code>application/problem+json</code> document (RFC 9457). Its <code>code</code> is one of these,
and its <code>type</code> links to the code on this page. The <code>detail</code> of a reply says what to change in that
case; this page says what to change in general. With status 400, <code>errors</code> lists every fault at once.</p>
<p>The <a href="${root}/">API reference</a> lists the codes of each operation. Codes that only some operations return name
them below.</p>
<nav class="codes" aria-label="Codes">
${groups.map(contents).join('\n')}
</nav>
${groups.map((group) => explanations(group, { root, answeredBy })).join('\n')}
</main>`
  return page({
    title: 'Problems – Cairn API reference',
    root,
    current: 'problems',
    content,
  })
}

type Group = { heading: string; codes: readonly ProblemCode[] }

function contents({ heading, codes }: Group) {
  const links = codes.map((code) => `<li><a href="#${code}">${code}</a></li>`)
  return `<div><strong>${heading}</strong><ul>${links.join('')}</ul></div>`
}

/** For codes that this many operations or more return, the page lists no operations: they say nothing specific. */
const MANY_OPERATIONS = 10

function explanations({ heading, codes }: Group, { root, answeredBy }: ProblemsPage) {
  const sections = codes.map((code) => {
    const { status, title, detail } = problems[code]
    const operations = answeredBy.get(code) ?? []
    const links = operations.map((id) => `<a href="${root}/#operation/${id}"><code>${id}</code></a>`)
    const isOfFew = operations.length > 0 && operations.length < MANY_OPERATIONS
    return `<section id="${code}" aria-labelledby="${code}-heading">
<h3 id="${code}-heading"><a href="#${code}">${code}</a></h3>
<p class="meaning">${status} · ${escapeHtml(title)}</p>
<p>${escapeHtml(detail)}</p>
${isOfFew ? `<p>Returned, for example, by ${links.join(', ')}.</p>\n` : ''}</section>`
  })
  return `<h2>${heading}</h2>\n${sections.join('\n')}`
}
