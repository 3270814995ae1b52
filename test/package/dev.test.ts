// engines: sqlite (of the server it only needs that one runs)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { processEnvironment } from '../../server/config.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { writeIn } from '../fixtures/installation.ts'
import { withPatience } from '../fixtures/patience.ts'

/** Runs `npm run dev` in a copy of the project. @returns the contract as it is served now; empty while nothing is */
function startDevelopment(): { folder: string; served: () => Promise<string> } {
  const folder = temporaryFolder()
  for (const name of ['openapi.yaml', 'server', 'client', 'generated', 'package.json']) {
    cpSync(name, join(folder, name), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
  const child = spawn('npm', ['run', 'dev'], {
    cwd: folder,
    env: { ...processEnvironment(), PORT: '0', DATABASE_URL: databaseUrl },
    // A process group of its own, because npm starts others.
    detached: true,
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    await exited
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  const served = async () => {
    const url = [...printed.matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1]
    const reply = url && (await fetch(`${url}/v1/openapi.yaml`).catch(() => undefined))
    return reply ? await reply.text() : ''
  }
  return { folder, served }
}

it('npm run dev serves each contract that is saved, also by replacing the file, and generates from it', async () => {
  const { folder, served } = startDevelopment()
  const summary = 'summary: List customers in order of arrival'
  await expect.poll(served, withPatience).toContain(summary)

  for (const word of ['once', 'twice']) {
    const path = join(folder, 'openapi.yaml')
    const changed = readFileSync(path, 'utf8').replace(summary, `${summary} ${word}`)
    renameSync(writeIn(folder, 'saved.yaml', changed), path)
    await expect.poll(served, withPatience).toContain(`${summary} ${word}`)
    expect(readFileSync(join(folder, 'generated/operations.ts'), 'utf8')).toContain(`of arrival ${word}`)
  }
})
