/**
 * Development: `npm run check:install` makes a release, installs it, and serves the result. It uses the registry and
 * takes a minute, so it is a separate step.
 */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { bash, blockOf, hasItsPages, megabytes, root, version, whileServing } from './installed.ts'

/** Returns a command from the README, verbatim. */
function commandOfReadme(text: string): string {
  return blockOf('README.md', 'sh', text)
}

describe('a release', () => {
  const tarball = resolve('dist', 'release', `cairn-${version}.tgz`)
  const folder = join(root, 'elsewhere')
  // As a supervisor starts it: npx does not forward signals and would leave the server running.
  const serve = 'env PATH="$PWD/node_modules/.bin:$PATH" cairn serve'

  it('is made by one command, and installed gives a cairn that serves', async () => {
    await bash('npm run release', '.')
    await bash('sha256sum --check SHA256SUMS', resolve('dist', 'release'))
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    await bash(`npm install ${tarball}`, folder)
    ok((await megabytes(folder)) < 300, 'less than 300 MB')
    equal(await bash('npx --no cairn -- --version', folder), `${version}\n`)
    await whileServing(serve, folder, hasItsPages)
  })

  it('of the next version is made by the same command, and passes the tests of versions', async () => {
    const next = join(root, 'next')
    const [major] = version.split('.').map(Number)
    mkdirSync(next)
    await bash(`git ls-files -z | xargs -0 cp --parents --target-directory=${next}`, '.')
    await bash(`ln -s ${resolve('node_modules')} node_modules`, next)
    // Right after a release the changelog has no entry yet.
    await bash(`sed -i 's/^## Unreleased$/&\\n\\n- Something./' CHANGELOG.md`, next)
    await bash(`npm run release -- ${major + 1}.0.0`, next)
    await bash('sha256sum --check SHA256SUMS', join(next, 'dist', 'release'))
    await bash('npm run check:contract && npm run check:generated', next)
    await bash("npx vitest run test/contract/additive.test.ts test/package -t 'last release|version'", next)
  })

  it('has the other commands too, and what they need', async () => {
    const environment = `DATABASE_URL=sqlite:${join(root, 'store.db')}`
    const made = JSON.parse(
      await bash(`${environment} npx --no cairn init --workspace Acme --journey Onboarding --json`, folder),
    )
    const line = {
      client_customer_id: 'u',
      customer_type: 'contact',
      customer_name: 'Ada',
      event_id: 'signed_up',
    }
    writeFileSync(join(folder, 'history.ndjson'), JSON.stringify(line))
    await bash(`${environment} npx --no cairn backup ${join(root, 'copy.db')}`, folder)
    const copy = serve.replace('env', `env DATABASE_URL=sqlite:${join(root, 'copy.db')}`)
    await whileServing(copy, folder, async (url) => {
      const send = `npx --no cairn import history.ndjson --journey ${made.journey_id} --base-url ${url}/v1`
      await bash(`CAIRN_SERVICE_KEY=${made.secret_key} ${send}`, folder)
      const reply = await fetch(`${url}/v1/events`, { headers: { 'x-service-key': made.secret_key } })
      const { data } = await reply.json()
      deepEqual(
        data.map(({ event_id }: { event_id: string }) => event_id),
        ['signed_up'],
      )
    })
  })

  it("has a client that the README's example uses, from an empty folder", async () => {
    const project = join(root, 'project')
    mkdirSync(project)
    const { journey_id, secret_key } = JSON.parse(
      await bash(
        `DATABASE_URL=sqlite:${join(root, 'copy.db')} npx --no cairn init --workspace Own --journey First --json`,
        folder,
      ),
    )
    const copy = serve.replace('env', `env DATABASE_URL=sqlite:${join(root, 'copy.db')}`)
    await whileServing(copy, folder, async (url) => {
      const [setUp, build] = ['npm pkg set type=module', 'npx tsc &&'].map(commandOfReadme)
      const example = blockOf('README.md', 'ts', 'createClient').replaceAll('http://127.0.0.1:3000', url)
      await bash(`${setUp}`.replace('../cairn/', `${resolve('dist', 'release')}/`), project)
      writeFileSync(join(project, 'first-event.ts'), example)
      const keys = `export JOURNEY_ID=${journey_id} CAIRN_SERVICE_KEY=`
      const printed = await bash(`${keys}${secret_key}\n${build}`, project)
      match(printed, /customer_id: 'cus_\w+', created: true/)
      match(printed, /success: true,\s+id: 'evt_\w+',\s+duplicate: false/)
      await rejects(bash(`${keys}sk_wrong\n${build}`, project), /invalid_key|"code":"\w+"/)
    })
  })
})
