// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { dump, load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { type Cairn, temporaryFolder } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'
import { newMember, signIn } from '../fixtures/people.ts'
import { redocly } from './redocly.ts'

type Criterion = { condition: string; type?: 'jsonpath' }
type Step = { stepId: string; successCriteria: Criterion[]; onFailure?: object[] }
type Arazzo = {
  sourceDescriptions: { name: string; url: string }[]
  workflows: { workflowId: string; steps: Step[] }[]
}

type Contract = { components: { schemas: { InitializedCustomer: { required: string[] } } } }

/** What ran: a workflow contains steps, and the rest of itself after a failure action. */
type Executed =
  | { type: 'workflow'; executedSteps: Executed[] }
  | { type: 'step'; workflowId: string; stepId: string; checks: Check[] }
type Check = { name: string; condition?: string; passed: boolean }
type Report = { files: Record<string, { executedWorkflows: Executed[] }> }

const FILE = 'test/contract/workflows.arazzo.yaml'
const workflows = load(readFileSync(FILE, 'utf8')) as Arazzo

describe('the workflows', () => {
  it('run step by step, as the contract describes them', async ({ cairn }) => {
    const { exitCode, checks, output } = await respect(cairn, FILE)
    expect.soft(checks.filter(({ passed }) => !passed)).toEqual([])
    expect(criteriaIn(checks)).toEqual(criteriaOf(workflows))
    expect(exitCode, output).toBe(0)
  })

  it('fail at every single criterion when it is negated', async ({ cairn }) => {
    const wrong = turnedRound(workflows)
    const file = join(temporaryFolder(), 'wrong.arazzo.yaml')
    writeFileSync(file, dump(wrong))
    const { exitCode, checks } = await respect(cairn, file)
    expect(criteriaIn(checks.filter(({ passed }) => !passed))).toEqual(criteriaOf(wrong))
    expect(exitCode).toBe(1)
  })

  it('fail at a response that the contract does not describe', async ({ cairn }) => {
    const contract = load(readFileSync('openapi.yaml', 'utf8')) as Contract
    contract.components.schemas.InitializedCustomer.required.push('customer_name')
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'openapi.yaml'), dump(contract))
    const [first] = workflows.workflows
    const sourceDescriptions = [{ name: 'cairn', url: 'openapi.yaml', type: 'openapi' }]
    const file = join(folder, 'workflows.arazzo.yaml')
    writeFileSync(file, dump({ ...workflows, sourceDescriptions, workflows: [first] }))
    const { exitCode, checks } = await respect(cairn, file)
    expect(checks.filter(({ passed }) => !passed)).toMatchObject([{ name: 'schema check' }])
    expect(exitCode).toBe(1)
  })
})

/** Runs the workflows of a file in a workspace of their own. */
async function respect(cairn: Cairn, file: string) {
  const workspace = await cairn.workspace()
  const { journey_id, secret_key, publishable_key } = workspace
  const { cookie } = await signIn(cairn, await newMember(cairn, workspace, 'admin'))
  const session = cookie.replace('cairn_session=', '')
  const inputs = { run: randomUUID(), journey_id, secret_key, publishable_key, session }
  const log = join(temporaryFolder(), 'respect.json')
  const { exitCode, stdout, stderr } = await redocly(
    ['respect', file, '--server', `cairn=${cairn.url}/v1`, '--json-output', log],
    { REDOCLY_CLI_RESPECT_INPUT: JSON.stringify(inputs) },
  )
  const output = stdout + stderr
  if (output.includes(secret_key) || output.includes(session)) throw new Error('the output shows a secret')
  const report: Report = JSON.parse(readFileSync(log, 'utf8'))
  return {
    exitCode,
    output,
    checks: Object.values(report.files).flatMap((run) => checksIn(run.executedWorkflows)),
  }
}

/** Every check in order, with the location of its step. */
function checksIn(executed: Executed[]): (Check & { place: string })[] {
  return executed.flatMap((item) => {
    if (item.type === 'workflow') return checksIn(item.executedSteps)
    return item.checks.map((check) => ({ ...check, place: `${item.workflowId}/${item.stepId}` }))
  })
}

function criteriaIn(checks: (Check & { place: string })[]): string[] {
  return checks
    .filter(({ name }) => name === 'success criteria check')
    .map(({ place, condition }) => `${place}: ${condition}`)
}

function criteriaOf({ workflows }: Arazzo): string[] {
  return workflows.flatMap(({ workflowId, steps }) =>
    steps.flatMap(({ stepId, successCriteria }) =>
      successCriteria.map(({ condition }) => `${workflowId}/${stepId}: ${condition}`),
    ),
  )
}

/** The same requests with every criterion negated; a failed step continues with the next. */
function turnedRound(arazzo: Arazzo): Arazzo {
  const wrong = structuredClone(arazzo)
  for (const source of wrong.sourceDescriptions) source.url = resolve(FILE, '..', source.url)
  for (const { steps } of wrong.workflows) {
    for (const [index, step] of steps.entries()) {
      for (const criterion of step.successCriteria) criterion.condition = opposite(criterion)
      const next = steps[index + 1]
      if (next) step.onFailure = [{ name: 'go-on', type: 'goto', stepId: next.stepId }]
    }
  }
  return wrong
}

function opposite({ condition, type }: Criterion): string {
  if (type === 'jsonpath') return condition.replace(/^\$\[\?(.*)\]$/, '$[?!($1)]')
  return condition.replace(' == ', ' != ')
}
