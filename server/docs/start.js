// The look of the API reference. Redoc is the global of redoc.js.

const accent = '#0f766e'
const ink = '#1e293b'
const sans = 'var(--sans)'
const mono = 'var(--mono)'

const theme = {
  // A phone has no room for Redoc's own 40 pixels on both sides.
  spacing: { sectionHorizontal: matchMedia('(max-width: 50rem)').matches ? 16 : 40 },
  colors: {
    primary: { main: accent, light: '#0d857a' },
    text: { primary: ink, secondary: '#52617a' },
  },
  typography: {
    fontSize: '15px',
    lineHeight: '1.6',
    fontFamily: sans,
    headings: { fontFamily: sans, fontWeight: '600', lineHeight: '1.3' },
    code: { fontSize: '13px', fontFamily: mono, color: ink, backgroundColor: '#eef2f6' },
  },
  sidebar: {
    width: '280px',
    backgroundColor: '#f8fafc',
    textColor: ink,
    activeTextColor: accent,
    groupItems: { textTransform: 'none' },
  },
  schema: { nestedBackground: '#f8fafc' },
  rightPanel: { backgroundColor: ink },
  fab: { backgroundColor: accent, color: '#ffffff' },
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
  },
  document.querySelector('#reference'),
)
