/**
 * `npm run build`, also run at the end of `npm ci`: builds the server into dist/server and the administration interface
 * into dist/admin, renders the operator's guides into dist/guides, and copies Redoc, which renders the API reference, into
 * dist/redoc. The packages that this takes are development dependencies. If they are missing (`npm ci --omit=dev`), they
 * are installed into a temporary folder, which is removed afterwards.
 *
 * JavaScript, because the machine's own Node runs it if npm is set to run no package scripts.
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

/** The files that the build reads. */
const SOURCES = ['package-lock.json', '.npmrc', 'tsconfig.json', 'admin', 'client', 'generated']

/** The packages that build, and Redoc, which is copied as it is. */
const BUILDERS = ['rolldown', 'vite', 'redoc', 'marked']

const dist = resolve('dist')
if (BUILDERS.every((name) => existsSync(join('node_modules', name)))) build('.')
else buildElsewhere()

/** @param {string} folder with the sources and all packages */
function build(folder) {
  const options = ['--outDir', join(dist, 'admin'), '--emptyOutDir', '--logLevel', 'warn']
  run([join('node_modules', 'vite', 'bin', 'vite.js'), 'build', 'admin', ...options], folder)
  // Runs here, because the dependencies to bundle are here.
  run(
    [join(folder, 'node_modules', 'rolldown', 'bin', 'cli.mjs'), '-c', 'server/build/rolldown.config.js'],
    '.',
  )
  run([join('server', 'docs', 'render-guides.js'), join(dist, 'guides'), folder], '.')
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
  // Inside dist: the system's temporary folder may be in memory, and this takes a quarter of a gigabyte.
  const folder = mkdtempSync(join(dist, 'build-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  process.stdout.write('Temporarily installing the packages that build Cairn ...\n')
  for (const name of SOURCES) cpSync(name, join(folder, name), { recursive: true })
  const { devDependencies, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
  const dependencies = only(devDependencies, [...BUILDERS, ...importedBy('admin')])
  // The lock file has more packages than these; the ones installed get the versions that it pins.
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
  // biome-ignore lint/style/noProcessEnv: npm sets its own path there
  const npm = process.env.npm_execpath
  if (!npm) fail('start it with npm: npm run build.')
  run([npm, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], folder)
  build(folder)
}

/** The packages that the modules in a folder import. */
function importedBy(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name))
  const text = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  return [...text.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(([, name]) => name)
}

function only(versions, names) {
  return Object.fromEntries(Object.entries(versions).filter(([name]) => names.includes(name)))
}

/** Runs a Node program to its end; on failure exits with a message that says what to do. */
function run(args, folder) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status === 0) return
  fail(
    'see the error above. `npm ci && npm prune --omit=dev` installs the same in two steps; ' +
      '`npm ci --omit=dev --ignore-scripts` skips the build.',
  )
}

function fail(reason) {
  process.stderr.write(`The build failed: ${reason}\n`)
  process.exit(1)
}
