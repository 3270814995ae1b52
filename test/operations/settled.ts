import { expect } from 'vitest'

type Counted = { as_of: string | null; recomputing: { done: number; total: number } | null }
type Answer<Report> = { data?: Report | undefined; error?: { detail: string } | undefined }

/** Requests a report until it contains everything that was acknowledged before this call. */
export async function settled<Report extends Counted>(ask: () => Promise<Answer<Report>>): Promise<Report> {
  const since_ms = Date.now()
  let settled: Report | undefined
  await expect
    .poll(
      async () => {
        const { data, error } = await ask()
        if (error) throw new Error(error.detail)
        settled = data
        return data?.as_of != null && Date.parse(data.as_of) >= since_ms && data.recomputing === null
      },
      { interval: 20 },
    )
    .toBe(true)
  return settled as Report
}
