import type { CSSProperties } from 'react'

/** The style of a field for what is written in code, such as an event_id. */
export const monospaceField = {
  fontFamily: 'var(--mantine-font-family-monospace)',
  // At 14 px Chromium draws no underscore in a field where the font is DejaVu Sans Mono, as on most of Linux.
  fontSize: 15,
} satisfies CSSProperties
