/** An exported file ended without its closing line. */
export class CutShortError extends Error {}
