// engines: sqlite (no engine knows the version)

import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { startCairnForTest } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'

const { version } = manifest
const changelog = readFileSync('CHANGELOG.md', 'utf8')

function contractVersion(text: string): string {
  return (load(text) as { info: { version: string } }).info.version
}

describe('the version', () => {
  it('is the same wherever it is stated', async () => {
    const client = JSON.parse(readFileSync('client/package.json', 'utf8'))
    const locked = [lock.version, lock.packages[''].version, lock.packages.client.version]
    expect([client.version, ...locked]).toEqual([version, version, version, version])
    for (const file of ['README.md', 'client/README.md', 'deploy/README.md', 'deploy/operations.md']) {
      const tarballs = readFileSync(file, 'utf8').match(/cairn-(client-)?\d[\d.]*\.tgz/g) ?? []
      expect([file, tarballs.length]).not.toEqual([file, 0])
      expect(tarballs.filter((name) => !name.endsWith(`-${version}.tgz`))).toEqual([])
    }
  })

  it('is shown by the command, the served contract and the metrics', async () => {
    expect(await runCairn(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    const { url } = await startCairnForTest()
    expect(contractVersion(await (await fetch(`${url}/v1/openapi.yaml`)).text())).toBe(version)
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(`cairn_build_info{version="${version}"} 1`)
  })

  it('has an entry in the changelog and the contract that later ones are compared with', () => {
    expect(changelog).toMatch(
      new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
    )
    const [newest] = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, found]) => found)
    expect(newest).toBe(version)
    expect(contractVersion(readFileSync('test/contract/released.yaml', 'utf8'))).toBe(version)
  })
})
