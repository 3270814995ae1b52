/**
 * Timeout for waiting on work: a busy machine may take long, so the limit is that of the run. It is below
 * vitest.config.ts's test timeout, so that a failure says what was waited for. If a time is promised, the promise is
 * the limit.
 */
export const withPatience = { timeout: 240_000 }
