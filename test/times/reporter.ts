import { cpus } from 'node:os'
import { dirname, relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

type Times = { files: number; tests: number; wall_ms: number; processor_ms: number }

/** Number of files in the second table. */
const SLOWEST = 25

/** Prints the time of each folder and of the slowest files per project, as tables for test/README.md. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default class TimesReporter implements Reporter {
  readonly #begun_ms = performance.now()

  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.map((module) => ({ module, times: timesOf(module) }))
    const folders = Map.groupBy(rows, ({ module }) => `${folderOf(module)} | ${module.project.name}`)
    const perFolder = [...folders].map(([name, rows]): [string, Times] => [
      name,
      rows.map(({ times }) => times).reduce(sum),
    ])
    const perFile = rows.map(({ module, times }): [string, Times] => [
      `${pathOf(module)} | ${module.project.name}`,
      times,
    ])
    const minutes = (performance.now() - this.#begun_ms) / 60_000
    const all = rows.map(({ times }) => times).reduce(sum)
    const text = [
      `${all.tests} tests of ${all.files} files in ${minutes.toFixed(1)} minutes on ${cpus().length} cores: ${seconds(all.wall_ms)} s of`,
      `workers' time, ${seconds(all.processor_ms)} s of processor time, without separate server and browser processes.`,
      '',
      table('folder | project', perFolder),
      '',
      table('slowest files | project', perFile.slice().sort(byWall).slice(0, SLOWEST)),
    ].join('\n')
    process.stdout.write(`\n${text}\n`)
  }
}

function timesOf(module: TestModule): Times {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  const tests = [...module.children.allTests()].length
  const wall_ms = duration + collectDuration + setupDuration
  return { files: 1, tests, wall_ms, processor_ms: module.meta().processor_ms ?? 0 }
}

function sum(one: Times, other: Times): Times {
  return {
    files: one.files + other.files,
    tests: one.tests + other.tests,
    wall_ms: one.wall_ms + other.wall_ms,
    processor_ms: one.processor_ms + other.processor_ms,
  }
}

function table(head: string, rows: [string, Times][]): string {
  const lines = rows
    .sort(byWall)
    .map(
      ([name, { tests, wall_ms, processor_ms }]) =>
        `| ${name} | ${tests} | ${seconds(wall_ms)} | ${seconds(processor_ms)} |`,
    )
  return [`| ${head} | tests | wall, s | processor, s |`, '|---|---|---:|---:|---:|', ...lines].join('\n')
}

function byWall([, one]: [string, Times], [, other]: [string, Times]): number {
  return other.wall_ms - one.wall_ms
}

function pathOf({ moduleId }: TestModule): string {
  return relative(new URL('..', import.meta.url).pathname, moduleId)
}

function folderOf(module: TestModule): string {
  return `${dirname(pathOf(module))}/`
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(ms < 10_000 ? 1 : 0)
}
