// engines: none (opens no store)

import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, inject, it } from 'vitest'
import { startCommand } from '../fixtures/command.ts'

// The program prints which one it is; the file that people run chooses between them.
const folder = join(inject('run').folder, 'launched')
const files = {
  'server/cli/commands.ts':
    "const which: string = 'as it is written'\nexport const runCommand = () => void process.stdout.write(which)\n",
  'generated/contract.ts': '',
  'openapi.yaml': '',
  'client/client.ts': '',
  'client/node_modules/later.js': '',
  'package-lock.json': '{}',
  'package.json': '{ "type": "module" }',
  'dist/server/commands.js': "export const runCommand = () => void process.stdout.write('as it was built')\n",
}

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  for (const file of ['cairn.js', 'built.js']) {
    copyFileSync(join('server/cli', file), join(folder, 'server/cli', file))
  }
  changed('dist/server/commands.js', 60)
})

it('runs the build', async () => {
  changed('client/node_modules/later.js', 120)
  expect(await whatRuns()).toBe('as it was built')
})

it.each(['server/cli/commands.ts', 'generated/contract.ts', 'client', 'openapi.yaml'])(
  'runs the sources if %s has changed since',
  async (file) => {
    changed(file, 120)
    expect(await whatRuns()).toBe('as it is written')
  },
)

it('runs the sources if nothing was built', async () => {
  rmSync(join(folder, 'dist'), { recursive: true })
  expect(await whatRuns()).toBe('as it is written')
})

/** @param seconds from now */
function changed(file: string, seconds: number) {
  const at = Date.now() / 1000 + seconds
  utimesSync(join(folder, file), at, at)
}

async function whatRuns(): Promise<string> {
  const { stdout } = await startCommand(process.execPath, [join(folder, 'server/cli/cairn.js')]).ended
  return stdout
}
