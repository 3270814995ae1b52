/**
 * How many milliseconds of processor time this process takes until the work is done, with the servers in it. For what must
 * not cost much: the time on the clock is also that of everything else which the machine does.
 */
export async function processorTime_ms(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
