#!/usr/bin/env node
// JavaScript, so that any Node can read it: an old one cannot read TypeScript and could not say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Cairn needs Node 22.18 or later and was started with ${process.versions.node}. Start it with npm (npm start, ` +
      'npx cairn), which uses the Node that is installed with it. Where npm was told to run no scripts, that is ' +
      'missing: npm rebuild node --ignore-scripts=false installs it.\n',
  )
  process.exit(1)
}
// Imported here, because an old Node does not know it.
const { enableCompileCache } = await import('node:module')
const { fileURLToPath } = await import('node:url')
const { isBuilt, SERVER_SOURCES } = await import('./built.js')
const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
enableCompileCache(path('node_modules/.cache/node'))
// Where a source is newer than what was built, in development, it is read as it is written; a release has it once.
const built = 'dist/server/commands.js'
const isFresh = isBuilt(path(built), SERVER_SOURCES.map(path))
const { runCommand } = await (isFresh ? import(`../../${built}`) : import('./commands.ts'))
process.exitCode = await runCommand(process.argv.slice(2), process)
