// Starts Redoc (the global of redoc.js) in the colours of the site, which follow the reader's colour scheme.

// Redoc derives other colours from these, so they cannot be variables; reference.css overrides them in the dark scheme. The
// panel with the samples is light on dark in both schemes.
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
}

const theme = {
  // Redoc's default of 40 pixels on both sides is too much for a phone.
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
    // Wrapped code needs no horizontal scrolling, which a keyboard could not do.
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
  // Parts that no selector can address.
  extensionsHook: (part) => styles[part] ?? '',
}

Redoc.init(
  // The contract with samples of requests.
  'reference.json',
  {
    theme,
    // Only the path: in a copy of the site on another host, that host's name would be wrong.
    hideHostname: true,
    scrollYOffset: () => document.querySelector('header.site').offsetHeight,
    // The introduction has a link.
    hideDownloadButtons: true,
    sortRequiredPropsFirst: true,
    jsonSamplesExpandLevel: 'all',
    schemasExpansionLevel: 1,
    // The keyboard can scroll these too.
    nativeScrollbars: true,
  },
  document.querySelector('#reference'),
)
