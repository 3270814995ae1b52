// engines: sqlite (the samples of deploy/ are about what stands around the server)

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { beforeAll, describe, expect, it } from 'vitest'
import { startCairn, temporaryFolder } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape } from '../fixtures/exposition.ts'
import { hasPrograms, pathOf } from '../fixtures/programs.ts'

type Rules = { groups: { rules: { alert: string; expr: string; for?: string }[] }[] }
type Panel = { title: string; type: string; targets?: { expr: string }[]; panels?: Panel[] }

const folder = 'deploy/prometheus'
const rules = (load(readFileSync(`${folder}/cairn.rules.yaml`, 'utf8')) as Rules).groups.flatMap(
  ({ rules }) => rules,
)
const dashboard: { panels: Panel[] } = JSON.parse(readFileSync('deploy/grafana/cairn.json', 'utf8'))
/** The queries of all panels, with their variables filled in. */
const expressions = dashboard.panels
  .flatMap(({ targets = [] }) => targets)
  .map(({ expr }) =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'cairn').replaceAll('$instance', '.*'),
  )

/** The names of a server's metrics. */
const names = new Set<string>()

beforeAll(async () => {
  const cairn = await startCairn()
  const { workspace, event } = await customerInJourney(cairn)
  await workspace.client.createEvent({ body: event })
  for (const { name } of await scrape(cairn)) names.add(name)
  return cairn.stop
})

function metricsIn(expression: string): string[] {
  return expression.match(/\b(cairn|process|nodejs)_[a-z0-9_]+/g) ?? []
}

describe('the rules for Prometheus', () => {
  it.each(rules.map(({ alert, expr }) => [alert, expr]))('%s uses only metrics that exist', (_, expr) => {
    expect([...names]).toEqual(expect.arrayContaining(metricsIn(expr)))
  })

  it('are those of the guide, and no others', () => {
    const [, table = ''] = readFileSync('deploy/monitoring.md', 'utf8').split('## What to alert on')
    const rows = [...table.matchAll(/^\| (`.+?) \| [A-Z]/gm)].map(([, when = '']) =>
      when.replaceAll('\\|', '|'),
    )
    const codes = rows.flatMap((row) => [...row.matchAll(/`(.+?)`/g)].map(([, code = '']) => code))
    const asked = codes.filter((code) => code !== '/readyz')
    const text = rules.map(({ expr }) => expr.replace(/\s+/g, ' ')).join('\n')
    expect(asked.length).toBeGreaterThan(14)
    expect(asked.filter((code) => !text.includes(code))).toEqual([])
    expect(
      rules.filter(({ expr }) => !asked.some((code) => expr.replace(/\s+/g, ' ').includes(code))),
    ).toEqual([])
  })

  it('each have a test in which they fire', () => {
    const tests = readFileSync(`${folder}/cairn.rules.test.yaml`, 'utf8')
    const fired = [...tests.matchAll(/labels: '\{alertname="(\w+)"/g)].map(([, alert]) => alert)
    expect([...new Set(fired)].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it.skipIf(!hasPrograms('promtool'))('are accepted by promtool, and fire when they should', () => {
    const run = (...args: string[]) =>
      execFileSync(pathOf('promtool') ?? '', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    expect(run('check', 'rules', 'cairn.rules.yaml')).toContain(`SUCCESS: ${rules.length} rules found`)
    expect(run('check', 'config', 'prometheus.yaml')).toContain('SUCCESS')
    expect(run('test', 'rules', 'cairn.rules.test.yaml')).toContain('SUCCESS')
  })
})

describe('the guide', () => {
  it('explains each metric of the server, and no others', () => {
    const [, table = ''] = readFileSync('deploy/monitoring.md', 'utf8').split(/\| metric \||\n## What/)
    const explained = [...table.matchAll(/^\| (`cairn_.+?) \| [A-Z0-9]/gm)].flatMap(([, metrics = '']) =>
      [...metrics.matchAll(/`(.+?)`/g)].map(([, name = '']) => name),
    )
    const own = [...names].filter((name) => name.startsWith('cairn_'))
    const families = own.map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    // On PostgreSQL alone; test/postgres/operators.test.ts reads it there.
    const ofPostgres = 'cairn_database_connections'
    expect(explained.toSorted()).toEqual([...new Set(families), ofPostgres].toSorted())
  })
})

describe('the dashboard for Grafana', () => {
  it('uses only metrics that exist', () => {
    expect(expressions.length).toBeGreaterThan(20)
    const asked = expressions.flatMap(metricsIn)
    expect([...names]).toEqual(expect.arrayContaining([...new Set(asked)]))
  })

  it.skipIf(!hasPrograms('promtool'))('has valid PromQL queries', () => {
    const file = join(temporaryFolder(), 'dashboard.yaml')
    const recorded = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    const checked = execFileSync(pathOf('promtool') ?? '', ['check', 'rules', file], { encoding: 'utf8' })
    expect(checked).toContain(`SUCCESS: ${expressions.length} rules found`)
  })
})
