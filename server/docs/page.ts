type Page = {
  title: string
  /** Relative path from the page's folder to the site's: `.`, or `..` for a page one folder deeper. */
  root: '.' | '..'
  /** The header entry of the page. */
  current: '' | 'problems'
  /** Additional style sheets of the site. */
  styles?: readonly string[]
  /** HTML that follows the header. */
  content: string
  /** Scripts of the site, run in this order after the content. */
  scripts?: readonly string[]
}

/** The header's entries, by path below the site's folder. */
const entries = { '': 'Reference', problems: 'Problems', 'openapi.json': 'Contract' }

/**
 * Returns a complete HTML page with the site's head and header. All links are relative, so that the site works in any
 * folder of any host. Nothing is inline, so that the policy can allow files only.
 */
export function page({ title, root, current, styles = [], content, scripts = [] }: Page): string {
  const links = Object.entries(entries).map(
    ([path, name]) =>
      `<a href="${root}/${path}"${path === current ? ' aria-current="page"' : ''}>${name}</a>`,
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
<a class="name" href="${root}/"><img src="${root}/icon.svg" alt="" width="24" height="24">Cairn</a>
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
