/**
 * For what waits for work: a busy machine may take long, and the bound is that of the run. It is below the time of a test
 * in vitest.config.ts, so that a failure says what was waited for. Where a time is promised, the promise is the bound.
 */
export const withPatience = { timeout: 240_000 }
