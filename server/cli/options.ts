import { InvalidArgumentError } from 'commander'
import { isGivenName } from '../domain/names.ts'

/** A name that the contract lets be given. */
export function name(text: string): string {
  if (!isGivenName(text)) {
    throw new InvalidArgumentError(
      'It must have 1 to 255 characters, of which one can be seen and none is NUL.',
    )
  }
  return text
}

/** A span of time such as `90s`, `15m`, `24h` or `30d`, in milliseconds. */
export function duration_ms(text: string): number {
  const [, count, unit] = /^([0-9]{1,6})(s|m|h|d)$/.exec(text) ?? []
  const unit_ms = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit ?? '']
  if (unit_ms === undefined) throw new InvalidArgumentError('Write it as 90s, 15m, 24h or 30d.')
  return Number(count) * unit_ms
}

/** An origin as browsers send it, for example `https://app.example.com`. */
export function origin(text: string): string {
  if (!URL.canParse(text) || new URL(text).origin !== text) {
    throw new InvalidArgumentError(
      'Write it as https://app.example.com, without a path or a slash at the end.',
    )
  }
  return text
}

/** Events a second; 0 means no limit. */
export function rate(text: string): number {
  if (!/^[0-9]{1,7}$/.test(text) || Number(text) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 0 to 1000000.')
  }
  return Number(text)
}

/** How many are kept, at least one. */
export function count(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

/** How many lines, at least one. */
export function lines(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.')
  return Number(text)
}

/** Where the API is, for example `https://cairn.example.com/v1`. */
export function baseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('Write it as https://cairn.example.com/v1.')
  }
  return text
}
