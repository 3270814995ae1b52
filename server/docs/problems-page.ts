import { STATUS_CODES } from 'node:http'
import { type ProblemCode, problems } from '../problems.ts'
import { escapeHtml, page } from './page.ts'

type ProblemsPage = {
  /** Relative path to the site's folder. */
  root: '.' | '..'
  /** The operations that answer a code. */
  answeredBy: ReadonlyMap<string, readonly string[]>
}

/**
 * Returns the page that the `type` of every problem points to: each code with its status, meaning, what to change and
 * the operations that answer it, in a section whose id is the code.
 */
export function problemsPage({ root, answeredBy }: ProblemsPage): string {
  const codes = Object.keys(problems) as ProblemCode[]
  const groups = [...Map.groupBy(codes, (code) => problems[code].status)].map(([status, codes]) => ({
    heading: escapeHtml(`${status} ${STATUS_CODES[status]}`),
    codes,
  }))
  const content = `<main class="text">
<h1>Problems</h1>
<p>Every refusal is an <code>application/problem+json</code> document (RFC 9457). Its <code>code</code> is one of these,
and its <code>type</code> leads to the code on this page. The <code>detail</code> of a reply says what to change in that
very case; here is what to change in general. With status 400, <code>errors</code> lists every fault at once.</p>
<p>Which codes an operation can answer is in the <a href="${root}/">API reference</a>, and below with the codes that only
some of them answer.</p>
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

/** A code that this many operations answer says nothing about any of them. */
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
${isOfFew ? `<p>Answered, for example, by ${links.join(', ')}.</p>\n` : ''}</section>`
  })
  return `<h2>${heading}</h2>\n${sections.join('\n')}`
}
