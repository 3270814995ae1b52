// engines: sqlite (the samples of deploy/ are about what stands around the server)

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { newStore, temporaryFolder } from '../fixtures/cairn.ts'
import { startCommand } from '../fixtures/command.ts'
import { hasPrograms, pathOf } from '../fixtures/programs.ts'

const guide = readFileSync('deploy/README.md', 'utf8')
const limits = manifest.scripts.start.match(/(--[a-z-]+|MALLOC_[A-Z_]+)=[0-9]+/g) ?? []

describe('the samples that start a server', () => {
  it.each(['deploy/systemd/cairn.service', 'deploy/Containerfile'])(
    '%s give Node the flags of npm start, and its memory settings',
    (file) => {
      expect(limits.length).toBeGreaterThan(3)
      const text = readFileSync(file, 'utf8')
      expect(limits.filter((limit) => !text.includes(limit))).toEqual([])
    },
  )
})

describe.skipIf(!hasPrograms('systemd-analyze'))('the unit for systemd', () => {
  const analyze = (...args: string[]) =>
    execFileSync(pathOf('systemd-analyze') ?? '', args, { encoding: 'utf8', stdio: 'pipe' })

  it('passes verification, and so do those of the backup', () => {
    const folder = temporaryFolder()
    const files = readdirSync('deploy/systemd').map((name) => {
      // The programs it starts must exist, and these paths do not exist here.
      const text = readFileSync(join('deploy/systemd', name), 'utf8')
      writeFileSync(join(folder, name), text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
      return join(folder, name)
    })
    expect(analyze('verify', '--man=no', ...files)).toBe('')
  })

  it('has an exposure below 2 of 10, where a service without hardening has 9.6', () => {
    analyze('security', '--offline=true', '--threshold=19', 'deploy/systemd/cairn.service')
  })
})

describe('the guide', () => {
  it('installs each sample for systemd, and enables what an [Install] section is for', () => {
    const folder = temporaryFolder()
    const samples = readdirSync('deploy/systemd')
    const copies = guide
      .match(/^cp \S+ \/etc\/systemd\/system\/$/gm)
      ?.map((line) => line.replace('/opt/cairn/node_modules/cairn/', '').replace(/\S+$/, folder))
    execFileSync('sh', ['-ec', copies?.join('\n') ?? ''])
    expect(readdirSync(folder)).toEqual(samples)
    const enabled = [...guide.matchAll(/^systemctl enable --now (\S+)$/gm)].map(([, name = '']) =>
      name.includes('.') ? name : `${name}.service`,
    )
    const isEnabled = (name: string) => /^\[Install\]$/m.test(readFileSync(join(folder, name), 'utf8'))
    expect(enabled.toSorted()).toEqual(samples.filter(isEnabled).toSorted())
  })
})

describe('the commands beside the unit', () => {
  it('have the settings of the service', async () => {
    const block = /```sh\n(as_cairn\(\).*?)```/s.exec(guide)?.[1] ?? ''
    const file = join(temporaryFolder(), 'environment')
    const settings = /<<END\n(.*?)END\n/s.exec(guide)?.[1] ?? ''
    writeFileSync(file, `${settings}DATABASE_URL='${await newStore()}'\n`)
    // There is no user of the service here.
    const commands = block
      .replace('runuser -u cairn --', '')
      .replaceAll('/etc/cairn/environment', file)
      .replaceAll('/opt/cairn/', `${process.cwd()}/`)
    const { stdout, stderr } = await startCommand('sh', ['-c', commands]).ended
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^https:\/\/cairn\.example\.com\/admin\/setup#/),
      '',
    ])
  })
})
