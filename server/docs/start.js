// Starts Redoc, the global of redoc.js, in the colours of the site, which follow the scheme that the reader has chosen.

// Of these Redoc calculates others, so that they cannot be variables; reference.css puts those of the dark scheme over
// them. What lies on the panel with the samples is light on dark in both.
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
  // A phone has no room for Redoc's own 40 pixels on both sides.
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
    // What is wrapped needs no scrolling to the side, on no screen and by no keyboard.
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
    // reference.css gives the menu its ground.
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
  // Parts that no selector tells from others.
  extensionsHook: (part) => styles[part] ?? '',
}

Redoc.init(
  // The contract with samples of requests.
  'reference.json',
  {
    theme,
    // The path alone: in a copy of the site on another host, that host's name would be wrong.
    hideHostname: true,
    scrollYOffset: () => document.querySelector('header.site').offsetHeight,
    downloadUrls: [{ title: 'openapi.json', url: 'openapi.json' }],
    sortRequiredPropsFirst: true,
    jsonSamplesExpandLevel: 'all',
    schemasExpansionLevel: 1,
    // The keyboard moves these too.
    nativeScrollbars: true,
  },
  document.querySelector('#reference'),
)
