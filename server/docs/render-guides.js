/**
 * Part of the build: renders the operator's guides (deploy/*.md) to HTML, for the site of the API reference.
 *
 *   node server/docs/render-guides.js FOLDER [PACKAGES]
 *
 * writes FOLDER/guides.json: a list of guides with their name, label, title, headings and HTML, in which `@/` stands for the
 * path to the site's folder. PACKAGES is the folder whose node_modules contains the package `marked`; by default this one.
 *
 * JavaScript, because the machine's own Node runs it if npm is set to run no package scripts.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from 'js-yaml'

/** The guides in the order of the navigation, by the name of their file. */
const LABELS = {
  operations: 'Operations',
  postgres: 'PostgreSQL',
  'backup-and-restore': 'Backup and restore',
  monitoring: 'Monitoring',
  'import-and-export': 'Import and export',
  'event-definitions': 'Event definitions',
  privacy: 'Erasure, retention and removal',
}

const [folder, packages = '.'] = process.argv.slice(2)
const marked = pathToFileURL(resolve(packages, 'node_modules/marked/lib/marked.esm.js'))
const { Marked } = await import(marked.href)

const { paths, components } = load(readFileSync('openapi.yaml', 'utf8'))
const operations = new Set(
  Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId)),
)
const codes = new Set(components.schemas.ProblemCode.enum)

const guides = Object.entries(LABELS).map(([name, label]) => ({ name, label, ...render(name) }))
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'guides.json'), JSON.stringify(guides))

/** @param {string} name */
function render(name) {
  let title = ''
  /** @type {{ id: string, text: string }[]} */
  const headings = []
  const renderer = {
    heading({ tokens, depth, text }) {
      const id = slug(text)
      const html = this.parser.parseInline(tokens)
      if (depth === 1) title = text
      if (depth === 2) headings.push({ id, text })
      return `<h${depth} id="${id}">${depth === 1 ? html : `<a class="anchor" href="#${id}">${html}</a>`}</h${depth}>\n`
    },
    // Link operations and problem codes to the reference.
    codespan({ text }) {
      const code = `<code>${escapeHtml(text)}</code>`
      if (operations.has(text)) return `<a href="@/#operation/${text}">${code}</a>`
      if (codes.has(text)) return `<a href="@/problems#${text}">${code}</a>`
      return code
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}">${text}</a>`
      const [path = '', fragment] = href.split('#')
      const anchor = fragment ? `#${fragment}` : ''
      if (path === '') return `<a href="${anchor}">${text}</a>`
      const guide = path.replace(/\.md$/, '')
      if (guide in LABELS) return `<a href="@/${guide}${anchor}">${text === path ? LABELS[guide] : text}</a>`
      // The other files of Cairn are beside the server, not on the site.
      const file = `<code>${escapeHtml(posix.join('deploy', path))}</code>`
      return file.includes(text.replace(/\/$/, '')) ? file : `${text} (${file})`
    },
  }
  const html = new Marked({ renderer }).parse(readFileSync(join('deploy', `${name}.md`), 'utf8'))
  return { title, headings, html }
}

/** The anchor of a heading, as GitHub makes it: links in the repository work on the site too. */
function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
