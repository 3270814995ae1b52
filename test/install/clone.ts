/**
 * Development: `npm run check:install` installs Cairn from a clone, as the README describes, and serves the result. It uses
 * the registry and takes a minute, so it is a separate step.
 */
import { doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { bash, blockOf, hasItsPages, megabytes, root, run, whileServing } from './installed.ts'

/** Creates a folder with the repository's files, without ignored ones. */
async function clone(name: string): Promise<string> {
  const folder = join(root, name)
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  for (const file of stdout.split('\0').filter(Boolean)) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    cpSync(file, join(folder, file))
  }
  return folder
}

describe('a clone', { concurrency: true }, () => {
  it('with production dependencies alone serves the interface, and is small', async () => {
    const folder = await clone('production')
    await bash('npm ci --omit=dev', folder)
    ok((await megabytes(folder)) < 300, 'less than 300 MB')
    doesNotMatch(await bash('ls node_modules', folder), /^(vite|rolldown|react|redoc|typescript)$/m)
    equal(await bash('ls dist', folder), 'admin\nguides\nredoc\nserver\n')
    const printed = await whileServing('npm start', folder, hasItsPages)
    doesNotMatch(printed, /not built/)
  })

  it('installed without scripts says what to do, and that does it', async () => {
    const folder = await clone('without-scripts')
    await bash('npm ci --omit=dev --ignore-scripts', folder)
    const own = await bash('node -p "process.versions.node"', folder)
    const [major = 0, minor = 0] = own.split('.').map(Number)
    if (major < 22 || (major === 22 && minor < 18)) {
      const refused = await bash('npm start 2>&1 || true', folder)
      match(refused, /npm rebuild node --ignore-scripts=false/)
    }
    await bash('npm rebuild node --ignore-scripts=false', folder)
    const printed = await whileServing('npm start', folder, async (url) => {
      const { detail } = await (await fetch(`${url}/admin/`)).json()
      equal(detail, 'The administration interface is not built; run npm run build.')
    })
    match(
      printed,
      /The administration interface is not built. Stop the server, run npm run build, and start it again/,
    )
    await bash(blockOf('deploy/operations.md', 'sh', '--ignore-scripts=false'), folder)
    await whileServing('npm start', folder, hasItsPages)
  })
})
