/**
 * `npm run build`, and the end of `npm ci`: builds the server into dist/server, the administration interface into
 * dist/admin, and puts Redoc, which shows the API reference, into dist/redoc. The packages for it are no production
 * dependencies: where they were left out (`npm ci --omit=dev`), they are installed into a folder of their own, which is
 * removed afterwards.
 *
 * JavaScript, because it is also run by the Node of the machine, where npm was told to run no scripts of packages.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

/** What the build reads. */
const SOURCES = ['package-lock.json', '.npmrc', 'tsconfig.json', 'admin', 'client', 'generated']

/** What builds, and what is passed on as it is. */
const BUILDERS = ['rolldown', 'vite', 'redoc']

const dist = resolve('dist')
if (BUILDERS.every((name) => existsSync(join('node_modules', name)))) build('.')
else buildElsewhere()

/** @param {string} folder with the sources and all packages */
function build(folder) {
  const options = ['--outDir', join(dist, 'admin'), '--emptyOutDir', '--logLevel', 'warn']
  run([join('node_modules', 'vite', 'bin', 'vite.js'), 'build', 'admin', ...options], folder)
  // Here, where the packages are that it is built of.
  run([join(folder, 'node_modules', 'rolldown', 'bin', 'cli.mjs'), '-c', 'server/rolldown.config.js'], '.')
  const redoc = join(folder, 'node_modules', 'redoc')
  rmSync(join(dist, 'redoc'), { recursive: true, force: true })
  mkdirSync(join(dist, 'redoc', 'bundles'), { recursive: true })
  const bundles = readdirSync(join(redoc, 'bundles')).filter((name) =>
    /standalone\.js$|\.LICENSE\.txt$/.test(name),
  )
  for (const name of ['LICENSE', ...bundles.map((bundle) => join('bundles', bundle))]) {
    cpSync(join(redoc, name), join(dist, 'redoc', name))
  }
}

function buildElsewhere() {
  mkdirSync(dist, { recursive: true })
  // Beside what is built: the folder for temporary files may be in memory, and this is a quarter of a gigabyte.
  const folder = mkdtempSync(join(dist, 'build-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  process.stdout.write('Installing for a moment what builds Cairn ...\n')
  for (const name of SOURCES) cpSync(name, join(folder, name), { recursive: true })
  const { devDependencies, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
  const dependencies = only(devDependencies, [...BUILDERS, ...importedBy('admin')])
  // The lock has more than this; what of it is needed has the versions that it names.
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      name: manifest.name,
      version: manifest.version,
      type: 'module',
      workspaces: ['client'],
      dependencies,
    }),
  )
  // biome-ignore lint/style/noProcessEnv: npm says there where it is
  const npm = process.env.npm_execpath
  if (!npm) fail('run it by npm: npm run build.')
  run([npm, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], folder)
  build(folder)
}

/** The packages that the modules of a folder import. */
function importedBy(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name))
  const text = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  return [...text.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(([, name]) => name)
}

function only(versions, names) {
  return Object.fromEntries(Object.entries(versions).filter(([name]) => names.includes(name)))
}

/** Runs a program of Node to its end, or ends with what to do. */
function run(args, folder) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status === 0) return
  fail(
    'see above. `npm ci && npm prune --omit=dev` installs the same in two steps; ' +
      '`npm ci --omit=dev --ignore-scripts` goes without it.',
  )
}

function fail(reason) {
  process.stderr.write(`Cairn is not built: ${reason}\n`)
  process.exit(1)
}
