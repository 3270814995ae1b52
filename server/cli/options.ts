import { type Command, InvalidArgumentError } from 'commander'
import type { Config } from '../config.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts'
import { isGivenName } from '../domain/names.ts'
import { CommandFailure, ExitCode } from './failure.ts'

/** A name that the contract accepts. */
export function name(text: string): string {
  if (!isGivenName(text)) {
    throw new InvalidArgumentError(
      'It must have 1 to 255 characters, at least one of them visible, and no NUL.',
    )
  }
  return text
}

/** Parses a duration such as `90s`, `15m`, `24h` or `30d`, in milliseconds. */
export function duration_ms(text: string): number {
  const [, count, unit] = /^([0-9]{1,6})(s|m|h|d)$/.exec(text) ?? []
  const unit_ms = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }[unit ?? '']
  if (unit_ms === undefined) throw new InvalidArgumentError('Use the form 90s, 15m, 24h or 30d.')
  return Number(count) * unit_ms
}

/** Checks an origin in the form that browsers send, for example `https://app.example.com`. */
export function origin(text: string): string {
  if (URL.parse(text)?.origin !== text) {
    throw new InvalidArgumentError(
      'Use the form https://app.example.com, without a path or a trailing slash.',
    )
  }
  return text
}

/** Parses events per second; 0 means no limit. */
export function rate(text: string): number {
  if (!/^[0-9]{1,7}$/.test(text) || Number(text) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 0 to 1000000.')
  }
  return Number(text)
}

/** Parses the number of backups to keep, at least one. */
export function count(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

/** Parses a number of lines. */
export function lines(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.')
  return Number(text)
}

/** Which server a command calls, and with which key. */
export type ApiOptions = { baseUrl?: string; keyFile?: string }

/** Adds them to a command. @param key what it needs, for example `secret key` */
export function withApi(command: Command, key: string): Command {
  return command
    .option('--base-url <url>', 'base URL of the API (default: http://127.0.0.1:PORT/v1)', baseUrl)
    .option('--key-file <file>', `file that contains only the ${key}`)
}

/** Checks the base URL of an API, for example `https://cairn.example.com/v1`. */
function baseUrl(text: string): string {
  // Paths are appended to it.
  if (httpUrl(text) && !/[?#]/.test(text)) return text
  throw new InvalidArgumentError('Use the form https://cairn.example.com/v1.')
}

/**
 * Parses a URL.
 * @throws {CommandFailure} if it has a password or the like: Commander would print it
 */
export function httpUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url
  if (text.includes('@'))
    throw new CommandFailure('a URL cannot contain a user name or a password', ExitCode.usage)
  return undefined
}

/** Returns the base URL of the API that a command calls: that of `--base-url`, or of the server of this machine. */
export function apiUrl({ port }: Config, given: string | undefined): string {
  return given ?? `http://127.0.0.1:${port}/v1`
}
