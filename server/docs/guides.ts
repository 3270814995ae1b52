import { existsSync, readFileSync } from 'node:fs'
import { escapeHtml, page } from './page.ts'

/** An operator's guide, rendered by render-guides.js from a Markdown file in deploy/. */
export type Guide = {
  /** Its path below the site's folder. */
  name: string
  /** Its label in the navigation. */
  label: string
  title: string
  headings: readonly { id: string; text: string }[]
  /** Contains `@/` in place of the path to the site's folder. */
  html: string
}

/** Created by `npm run build`. */
const file = new URL('../../dist/guides/guides.json', import.meta.url)

/** Shown if the guides are not built: says what to do. */
const notBuilt: Guide = {
  name: 'operations',
  label: 'Operations',
  title: 'Guides',
  headings: [],
  html: '<h1>Guides</h1><p>The guides are not built; run <code>npm run build</code>.</p>',
}

/** The operator's guides, in the order of their navigation. */
export function readGuides(): readonly Guide[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [notBuilt]
}

type GuidePage = {
  /** The path to the site's folder. */
  root: '.' | '..'
  /** All of them, for the navigation. */
  guides: readonly Guide[]
}

/** Returns the page of a guide, with a navigation of all guides and of its own headings. */
export function guidePage(guide: Guide, { root, guides }: GuidePage): string {
  const entries = guides.map(({ name, label, headings }) => {
    if (name !== guide.name) return `<li><a href="${root}/${name}">${escapeHtml(label)}</a></li>`
    const contents = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
    return `<li><a href="${root}/${name}" aria-current="page">${escapeHtml(label)}</a>
<ul class="headings">${contents.join('')}</ul></li>`
  })
  return page({
    title: `${guide.title} – Cairn`,
    root,
    current: 'guides',
    content: `<div class="guide">
<nav class="guides" aria-label="Guides"><ul class="list">
${entries.join('\n')}
</ul></nav>
<main class="text">
${guide.html.replaceAll('href="@/', `href="${root}/`)}</main>
</div>`,
  })
}
