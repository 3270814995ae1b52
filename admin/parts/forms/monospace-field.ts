import type { CSSProperties } from 'react'

/** The style of a field for values from code, such as an event_id. */
export const monospaceField = {
  fontFamily: 'var(--mantine-font-family-monospace)',
  // At 14 px Chromium draws no underscore in a field in DejaVu Sans Mono, the default on most Linux systems.
  fontSize: 15,
} satisfies CSSProperties
