import { readFileSync } from 'node:fs'
import { answeredCodes } from './answered-codes.ts'
import { withFirstScreen } from './first-screen.ts'
import { guidePage, readGuides } from './guides.ts'
import { page } from './page.ts'
import { problemsPage } from './problems-page.ts'
import { redocFiles } from './redoc.ts'
import { withSamples } from './samples.ts'

export type SiteFile = { readonly contentType: string; readonly body: string }

/**
 * The API reference and the operator's guides as a site: each file by its path below the site's own folder, which is
 * `''` for the first page. Links between them are relative, so that the same files work at `/docs/` and in any folder of a
 * static host.
 *
 * The `type` of a problem links to `problems`. Many static hosts serve a page only as a folder, with a slash after its name,
 * where relative links resolve differently. So each page exists a second time with a slash, as `problems/`.
 */
export function apiReference({ contract }: { contract: object }): ReadonlyMap<string, SiteFile> {
  const redoc = redocFiles()
  const answeredBy = answeredCodes(contract)
  const guides = readGuides()
  return new Map([
    ['', html(referencePage())],
    ['problems', html(problemsPage({ root: '.', answeredBy }))],
    ['problems/', html(problemsPage({ root: '..', answeredBy }))],
    ...guides.flatMap((guide): [string, SiteFile][] => [
      [guide.name, html(guidePage(guide, { root: '.', guides }))],
      [`${guide.name}/`, html(guidePage(guide, { root: '..', guides }))],
    ]),
    ['openapi.json', json(contract)],
    ['reference.json', json(withFirstScreen(withSamples(contract)))],
    ['site.css', css(asset('site.css'))],
    ['reference.css', css(asset('reference.css'))],
    ['icon.svg', { contentType: 'image/svg+xml', body: asset('icon.svg') }],
    ['start.js', script(asset('start.js'))],
    ['mend.js', script(asset('mend.js'))],
    ['redoc.js', script(redoc.script)],
    ['redoc-search.js', script(redoc.searchWorker)],
    ['redoc-licenses.txt', { contentType: 'text/plain; charset=utf-8', body: redoc.licenses }],
  ])
}

function referencePage() {
  return page({
    title: 'Cairn API reference',
    root: '.',
    current: 'reference',
    styles: ['reference.css'],
    content: `<main id="reference">
<noscript><p class="text">The reference needs JavaScript. Without it, read the contract itself:
<a href="./openapi.json">openapi.json</a>.</p></noscript>
</main>`,
    scripts: ['redoc.js', 'start.js', 'mend.js'],
  })
}

function html(body: string): SiteFile {
  return { contentType: 'text/html; charset=utf-8', body }
}

function json(value: object): SiteFile {
  return { contentType: 'application/json', body: JSON.stringify(value, null, 2) }
}

function css(body: string): SiteFile {
  return { contentType: 'text/css; charset=utf-8', body }
}

function script(body: string): SiteFile {
  return { contentType: 'text/javascript; charset=utf-8', body }
}

function asset(name: string) {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
