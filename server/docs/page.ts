type Page = {
  title: string
  /** The path from the page's own folder to the site's: `.`, or `..` for a page one folder deeper. */
  root: '.' | '..'
  /** The page's entry in the header. */
  current: keyof typeof entries
  /** Further style sheets of the site. */
  styles?: readonly string[]
  /** HTML that follows the header. */
  content: string
  /** Scripts of the site, run in this order after the content. */
  scripts?: readonly string[]
}

/** The header's entries, each with its path below the site's folder. */
const entries = {
  reference: { name: 'Reference', path: '' },
  guides: { name: 'Guides', path: 'operations' },
  problems: { name: 'Problems', path: 'problems' },
  contract: { name: 'Contract', path: 'openapi.json' },
}

/**
 * A complete HTML page of the site, with the head and the header that all pages share. Every link is relative, so that the
 * site works in any folder of any host, and nothing is inline, so that the Content-Security-Policy can forbid inline scripts.
 */
export function page({ title, root, current, styles = [], content, scripts = [] }: Page): string {
  const links = Object.entries(entries).map(
    ([key, { name, path }]) =>
      `<a href="${root}/${path}"${key === current ? ' aria-current="page"' : ''}>${name}</a>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${root}/icon.svg" type="image/svg+xml">
${['site.css', ...styles].map((name) => `<link rel="stylesheet" href="${root}/${name}">`).join('\n')}
</head>
<body>
<header class="site">
<a class="name" href="${root}/"><img src="${root}/icon.svg" alt="" width="24" height="24"><span>Cairn</span></a>
<nav aria-label="Site">
${links.join('\n')}
</nav>
</header>
${content}
${scripts.map((name) => `<script src="${root}/${name}"></script>\n`).join('')}</body>
</html>
`
}

/** Escapes text for an HTML element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
