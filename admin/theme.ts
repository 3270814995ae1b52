import {
  type CSSVariablesResolver,
  createTheme,
  darken,
  type MantineColorsTuple,
  type MantineTheme,
  type ModalProps,
} from '@mantine/core'

/** The API reference has the same accent, #0f766e. */
const cairn: MantineColorsTuple = [
  '#f0faf8',
  '#dff3ef',
  '#a7ebdd',
  '#6edcc9',
  '#2dd4bf',
  '#14b8a6',
  '#0d9488',
  '#0e857b',
  '#0f766e',
  '#115e59',
]

const gray: MantineColorsTuple = [
  '#f8fafc',
  '#f1f5f9',
  '#e2e8f0',
  '#cbd5e1',
  '#b4c0cf',
  '#94a3b8',
  '#64748b',
  '#475569',
  '#334155',
  '#1e293b',
]

const dark: MantineColorsTuple = [
  '#e2e8f0',
  '#cbd5e1',
  '#94a3b8',
  '#7c8ca3',
  '#475569',
  '#334155',
  '#1e293b',
  '#0f172a',
  '#0b1120',
  '#080c17',
]

export const theme = createTheme({
  colors: { cairn, gray, dark },
  primaryColor: 'cairn',
  primaryShade: 8,
  black: '#0f172a',
  defaultRadius: 'md',
  autoContrast: true,
  // White text has the 4.5:1 of WCAG AA on everything up to this luminance.
  luminanceThreshold: 0.183,
  respectReducedMotion: true,
  cursorType: 'pointer',
  headings: { fontWeight: '650' },
  components: {
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        centered: true,
        // A click beside a dialog would lose what was typed in it.
        closeOnClickOutside: false,
        // Otherwise a dialog's heading counts as a second banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
      styles: (_: MantineTheme, { opened }: ModalProps) => ({
        // Names can be long words.
        title: { fontWeight: 650, minWidth: 0 },
        // While it closes, a second click must not send a change again.
        content: { overflowWrap: 'break-word', ...(!opened && { pointerEvents: 'none' }) },
      }),
    },
    // A menu may contain only items, and everything on a page must be inside a landmark.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, withinPortal: false } },
    PasswordInput: {
      // Mantine leaves it out of the tab order.
      defaultProps: {
        visibilityToggleButtonProps: { 'aria-label': 'Show or hide password', tabIndex: 0 },
      },
    },
    Tooltip: { defaultProps: { events: { hover: true, focus: true, touch: true } } },
    // Lets a long identifier be shortened instead of overflowing.
    Alert: { styles: { body: { minWidth: 0 } } },
    Anchor: { defaultProps: { underline: 'always' } },
  },
})

/** Raises those of Mantine's own shades that are below WCAG AA contrast (4.5:1), in both color schemes. */
export const cssVariablesResolver: CSSVariablesResolver = ({ colors }) => {
  const light: Record<string, string> = {
    '--mantine-color-dimmed': '#52617a',
    '--mantine-color-placeholder': '#64748b',
    '--mantine-color-error': '#b91c1c',
    '--mantine-color-disabled-color': '#64748b',
  }
  const dark: Record<string, string> = {
    '--mantine-color-dimmed': '#a3b1c6',
    '--mantine-color-placeholder': '#94a3b8',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-disabled-color': '#94a3b8',
  }
  for (const [name, shades] of Object.entries(colors)) {
    if (name === 'dark') continue
    const text = darken(shades[9], name === 'gray' || name === 'cairn' ? 0 : 0.35)
    for (const use of ['text', 'light-color', 'outline']) {
      light[`--mantine-color-${name}-${use}`] = text
      dark[`--mantine-color-${name}-${use}`] = shades[2]
    }
    dark[`--mantine-color-${name}-light`] = darken(shades[9], 0.65)
    dark[`--mantine-color-${name}-light-hover`] = darken(shades[9], 0.55)
  }
  return { variables: {}, light, dark }
}
