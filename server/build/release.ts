/**
 * Development: `npm run release` makes the tarballs of this version in dist/release: `cairn`, compiled to JavaScript
 * with the administration interface and the samples of deploy/, and `cairn-client`.
 *
 * `npm run release -- 1.2.0` sets the next version everywhere first, and prints the commands to commit it.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Manifest = { name: string; version: string; dependencies: Record<string, string> }
type Lock = { version: string; packages: Record<string, { version: string }> }

/** What goes into the package unchanged, beside what is built. */
const COPIED = [
  ...['openapi.yaml', 'deploy', 'README.md', 'CHANGELOG.md', 'LICENSE'],
  ...['dist/admin', 'dist/guides', 'dist/redoc'],
]

/** Files of server/docs that only the build runs. */
const BUILDING = ['render-guides.js']

const stage = join('dist', 'package')
const target = join('dist', 'release')

try {
  const [next] = process.argv.slice(2)
  const files = next === undefined ? [] : nameVersion(next)
  await makeTarballs()
  if (files.length > 0) {
    process.stdout.write(
      `\nThe release is one commit:\n  git add ${files.join(' ')}\n  git commit -m 'Release ${next}' && git tag v${next}\n`,
    )
  }
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

/**
 * Sets the version everywhere. The changelog's "Unreleased" entries become the entry of this version, and its contract
 * becomes the one that later versions are compared with.
 * @returns the files that it changed
 */
function nameVersion(next: string): string[] {
  const { version } = manifest('package.json')
  if (!/^\d+\.\d+\.\d+$/.test(next) || !isLater(next, version)) {
    throw new Error(`the next version must be three numbers and higher than ${version}, for example 1.2.0`)
  }
  const unreleased = /^## Unreleased\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(readFileSync('CHANGELOG.md', 'utf8'))
  if (!unreleased?.[1]?.trim()) throw new Error('CHANGELOG.md has nothing under "## Unreleased"')

  const today = new Date().toISOString().slice(0, 10)
  const old = version.replaceAll('.', '\\.')
  const edits: [file: string, pattern: RegExp, text: string][] = [
    ['package.json', new RegExp(`^(  "version": ")${old}`, 'm'), `$1${next}`],
    ['client/package.json', new RegExp(`^(  "version": ")${old}`, 'm'), `$1${next}`],
    ['openapi.yaml', new RegExp(`^(  version: )${old}$`, 'm'), `$1${next}`],
    ['CHANGELOG.md', /^## Unreleased\n/m, `## Unreleased\n\n## ${next} (${today})\n`],
    ['README.md', new RegExp(`(cairn-client-)${old}(\\.tgz)`, 'g'), `$1${next}$2`],
    ['client/README.md', new RegExp(`(cairn-client-)${old}(\\.tgz)`, 'g'), `$1${next}$2`],
    ['deploy/README.md', new RegExp(`(cairn-)${old}(\\.tgz)`, 'g'), `$1${next}$2`],
    ['deploy/operations.md', new RegExp(`(cairn-)${old}(\\.tgz)`, 'g'), `$1${next}$2`],
  ]
  for (const [file, pattern, text] of edits) edit(file, pattern, text)

  const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  lock.version = next
  for (const folder of ['', 'client']) Object.assign(lock.packages[folder] ?? {}, { version: next })
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)

  const released = 'test/contract/released.yaml'
  cpSync('openapi.yaml', released)
  return [...new Set(edits.map(([file]) => file)), 'package-lock.json', released]
}

function edit(file: string, pattern: RegExp, text: string) {
  const before = readFileSync(file, 'utf8')
  const after = before.replace(pattern, text)
  if (after === before) throw new Error(`${file} does not have the current version where it is expected`)
  writeFileSync(file, after)
}

function isLater(next: string, version: string): boolean {
  return next.localeCompare(version, 'en', { numeric: true }) > 0
}

async function makeTarballs() {
  execFileSync(process.execPath, ['server/build/build.js'], { stdio: 'inherit' })
  // After the build, because the version is compiled into the interface.
  makePackage()
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const folder of [stage, 'client']) {
    execFileSync('npm', ['pack', `./${folder}`, '--pack-destination', target, '--loglevel', 'error'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  const sums = readdirSync(target).map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(target, name)))
      .digest('hex')
    return `${digest}  ${name}\n`
  })
  writeFileSync(join(target, 'SHA256SUMS'), sums.join(''))
  process.stdout.write(`In ${target}:\n${sums.join('')}`)
}

/** Makes the package as it is installed, compiled: Node does not read TypeScript below node_modules. */
function makePackage() {
  rmSync(stage, { recursive: true, force: true })
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'server/build/tsconfig.release.json'],
    {
      stdio: 'inherit',
    },
  )
  for (const name of readdirSync('server/docs').filter(
    (name) => !name.endsWith('.ts') && !BUILDING.includes(name),
  )) {
    cpSync(join('server/docs', name), join(stage, 'server/docs', name))
  }
  for (const name of COPIED) cpSync(name, join(stage, name), { recursive: true })

  const { name, version, description, license, engines, dependencies } = {
    ...manifest('package.json'),
  } as Manifest & Record<string, unknown>
  const released = {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { cairn: 'server/cli/cairn.js' },
    // The import command uses the client, which is part of the package.
    dependencies: exact({ ...dependencies, ...manifest('client/package.json').dependencies }),
  }
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(released, null, 2)}\n`)
}

/** Pins the dependencies to the versions that this one was tested with. */
function exact(dependencies: Record<string, string>): Record<string, string> {
  const { packages }: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const names = Object.keys(dependencies).sort()
  return Object.fromEntries(names.map((name) => [name, packages[`node_modules/${name}`]?.version ?? '']))
}

function manifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}
