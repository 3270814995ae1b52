// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { spawnCairn } from '../fixtures/command.ts'
import { it } from '../fixtures/it.ts'

const plan = 'events:\n  first:\n  second:\n'

describe('a reader that closes standard output', () => {
  it.for([
    ['--help', 0],
    ['key list', 0],
    ['member list', 0],
    ['migrate', 0],
    ['export events NEW', 0],
    ['plan diff PLAN', 5],
    ['plan push PLAN', 0],
    ['import LINES', 4],
    ['dev', 0],
    ['webhooks listen --forward http://127.0.0.1:9/hook', 0],
  ] as const)(
    'changes neither what the command does nor its exit code: cairn %s',
    async ([words, code], { cairn }) => {
      const workspace = randomUUID()
      const { secret_key } = await createWorkspace(cairn.databaseUrl, { workspace, journey: 'Onboarding' })
      const folder = temporaryFolder()
      const named = (word: string) => join(folder, word.toLowerCase())
      writeFileSync(named('PLAN'), plan)
      writeFileSync(named('LINES'), '{}\n')
      const args = words.split(' ').map((word) => (/^[A-Z]+$/.test(word) ? named(word) : word))
      if (/^(key|member) /.test(words)) args.push('--workspace', workspace)
      const command = spawnCairn(args, {
        environment: {
          DATABASE_URL: cairn.databaseUrl,
          CAIRN_SERVICE_KEY: secret_key,
          PORT: words === 'dev' ? '0' : new URL(cairn.url).port,
        },
      })
      command.process.stdout?.destroy()
      expect(await command.ended).toMatchObject({
        code,
        signal: null,
        stderr: expect.not.stringContaining('EPIPE'),
      })
      expect(existsSync(named('NEW'))).toBe(words.startsWith('export'))
      const { data } = await cairn.client(secret_key).listEventDefinitions()
      expect(data?.data.length).toBe(words.startsWith('plan push') ? 2 : 0)
    },
  )
})
