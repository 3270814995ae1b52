import type { Problem } from '../client/person.ts'
import { namesIn } from './parts/json-pointer.ts'

/** A problem that the server answered with (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  /** From `Retry-After`; undefined without it. */
  readonly retryAfterSeconds: number | undefined

  constructor(problem: Problem, response: Response) {
    super(`${problem.title}. ${problem.detail}`)
    this.problem = problem
    const seconds = response.headers.get('retry-after')
    this.retryAfterSeconds = seconds && /^\d+$/.test(seconds) ? Number(seconds) : undefined
  }
}

/** An error of the page itself, with what to do about it. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError'
  readonly title: string
  readonly detail: string

  constructor(title: string, detail: string) {
    super(title)
    this.title = title
    this.detail = detail
  }
}

/** The data of a result. Rejects with a `ProblemError` if the server answered with a problem. */
export async function taken<Data>(
  result: Promise<
    | { data: Data; error?: undefined; response: Response }
    | { data?: undefined; error: Problem; response: Response }
  >,
): Promise<Data> {
  const { data, error, response } = await result
  if (error) throw new ProblemError(error, response)
  return data
}

/** The code of a problem; undefined for any other error. */
export function codeOf(error: unknown): Problem['code'] | undefined {
  return error instanceof ProblemError ? error.problem.code : undefined
}

/**
 * Errors by field, for `form.setErrors`: an error at `/steps/0/event_id` has the key `steps.0.event_id`. Only the first
 * error of a field is kept. Empty for an error without field errors.
 */
export function fieldErrors(error: unknown): Record<string, string> {
  const faults = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  const errors: Record<string, string> = {}
  for (const { pointer, parameter, detail } of faults) {
    const field = parameter ?? fieldAt(pointer ?? '')
    errors[field] ??= detail
  }
  return errors
}

/** `/steps/0/event_id` as Mantine's forms name it. */
function fieldAt(pointer: string): string {
  return namesIn(pointer).join('.')
}
