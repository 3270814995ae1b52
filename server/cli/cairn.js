#!/usr/bin/env node
// JavaScript, so that any Node can run it: an old one cannot read TypeScript and could not print what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Cairn needs Node 22.18 or later, but runs on ${process.versions.node}. Start it with npm (npm start, ` +
      'npx cairn), which uses the Node installed with Cairn. If npm is set to run no scripts, that Node is missing; ' +
      'install it with: npm rebuild node --ignore-scripts=false\n',
  )
  process.exit(1)
}
process.stdout.on('error', (error) => {
  // The reader has seen enough (`cairn … | head`). The command finishes its work, and the exit code says how that went.
  if (error.code === 'EPIPE') return
  process.stderr.write(
    `cairn: cannot write to standard output: ${error.message}. What the command has done is not undone.\n`,
  )
  process.exit(1)
})
// Nobody reads the progress, or its disk is full; what is in flight goes on.
process.stderr.on('error', () => {})
// Imported dynamically, because an old Node does not have it.
const { enableCompileCache } = await import('node:module')
const { fileURLToPath } = await import('node:url')
const { isBuilt, SERVER_SOURCES } = await import('./built.js')
const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
enableCompileCache(path('node_modules/.cache/node'))
// In development, when a source is newer than the build, the sources run directly. A release contains only one of the
// two.
const built = 'dist/server/commands.js'
const isFresh = isBuilt(path(built), SERVER_SOURCES.map(path))
const { runCommand } = await (isFresh ? import(`../../${built}`) : import('./commands.ts'))
process.exitCode = await runCommand(process.argv.slice(2), process)
