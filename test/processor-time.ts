/**
 * Returns the processor time of this process, including its servers, for some work in milliseconds. For costs that must
 * be small: wall time includes everything else that the machine does.
 */
export async function processorTime_ms(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
