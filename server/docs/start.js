// Starts Redoc, the global of redoc.js, in the site's colours, which follow the reader's colour scheme.

// Literal values and not variables, because Redoc computes other colours from them; reference.css overrides them in the
// dark scheme. The panel with samples is light on dark in both.
const ink = '#1e293b'
const panel = '#1e293b'
const accent = '#0f766e'
const faint = '#52617a'

const answer = (color) => ({
  color: `var(--${color})`,
  backgroundColor: `color-mix(in srgb, var(--${color}) 8%, transparent)`,
  tabTextColor: `var(--${color}-on-panel)`,
})

const mark = 'color: var(--ink); background: var(--raised); border-color: var(--line);'
const styles = {
  ConstraintItem: mark,
  ExampleValue: mark,
  DownloadButton: 'color: var(--accent); border-color: currentColor;',
}

const theme = {
  // A phone has no space for Redoc's 40 pixels on both sides.
  spacing: { sectionHorizontal: matchMedia('(max-width: 50rem)').matches ? 16 : 40 },
  colors: {
    primary: { main: accent, light: '#0d857a' },
    text: { primary: ink, secondary: 'var(--faint)' },
    border: { dark: 'var(--line)', light: 'var(--line)' },
    gray: { 50: 'var(--raised)', 100: 'var(--raised)' },
    responses: {
      success: answer('good'),
      redirect: answer('doubtful'),
      info: answer('told'),
      error: answer('bad'),
    },
  },
  typography: {
    fontSize: '15px',
    lineHeight: '1.6',
    fontFamily: 'var(--sans)',
    headings: { fontFamily: 'var(--sans)', fontWeight: '600', lineHeight: '1.3' },
    links: { color: 'var(--accent)', hover: 'var(--accent)' },
    // Wrapped code needs no horizontal scrolling, on any screen.
    code: {
      fontSize: '13px',
      fontFamily: 'var(--mono)',
      color: 'var(--ink)',
      backgroundColor: 'var(--raised)',
      wrap: true,
    },
  },
  sidebar: {
    width: '280px',
    // reference.css sets the background of the menu.
    backgroundColor: 'transparent',
    textColor: 'var(--ink)',
    activeTextColor: 'var(--accent)',
    groupItems: { textTransform: 'none', activeBackgroundColor: 'var(--chosen)' },
    level1Items: { activeBackgroundColor: 'var(--chosen)' },
  },
  schema: {
    linesColor: 'var(--line)',
    nestedBackground: 'var(--menu)',
    typeNameColor: faint,
    typeTitleColor: 'var(--faint)',
    requireLabelColor: 'var(--bad)',
    arrow: { color: 'var(--faint)' },
  },
  rightPanel: {
    backgroundColor: panel,
    textColor: '#ffffff',
    servers: {
      overlay: { backgroundColor: '#f8fafc', textColor: ink },
      url: { backgroundColor: '#ffffff' },
    },
  },
  codeBlock: { backgroundColor: '#0f172a' },
  fab: { backgroundColor: accent, color: '#ffffff' },
  // Parts that no selector distinguishes from others.
  extensionsHook: (part) => styles[part] ?? '',
}

Redoc.init(
  // The contract with samples of requests.
  'reference.json',
  {
    theme,
    // The path only: in a copy of the site on another host, the host name would be wrong.
    hideHostname: true,
    scrollYOffset: () => document.querySelector('header.site').offsetHeight,
    downloadUrls: [{ title: 'openapi.json', url: 'openapi.json' }],
    sortRequiredPropsFirst: true,
    jsonSamplesExpandLevel: 'all',
    schemasExpansionLevel: 1,
    // So that the keyboard scrolls them too.
    nativeScrollbars: true,
  },
  document.querySelector('#reference'),
)
