/** Each by what it calls itself, and by nothing that others call themselves further down. */
const BROWSERS = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|OPT|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome|Chromium)\//, 'Chrome'],
  [/\bVersion\/.+\bSafari\//, 'Safari'],
] as const

const SYSTEMS = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** Longer ones are made up: those of browsers have about 120 characters. */
const LOOKED_AT = 512

/**
 * A browser by its header `User-Agent`, for example `Firefox on Linux`: enough to know one's own again. It is made of these
 * words alone, so that nothing is kept that would tell one person from others, and nothing that a caller wrote.
 * @returns null where nothing is known of it
 */
export function browserName(userAgent: string | undefined): string | null {
  const text = userAgent?.slice(0, LOOKED_AT) ?? ''
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))?.[1]
  const system = SYSTEMS.find(([pattern]) => pattern.test(text))?.[1]
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? null
}
