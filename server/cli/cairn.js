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
// To read all TypeScript anew takes half of a command's time, as it does where the folder cannot be written.
enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/node`)
await import('./commands.ts')
