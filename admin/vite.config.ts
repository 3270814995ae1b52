import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import manifest from '../package.json' with { type: 'json' }

const styles = `${import.meta.dirname}/../node_modules/@mantine/core/styles`

/** Refuses a build with a component of Mantine whose styles mantine-styles.ts leaves out. */
const mantineStyles: Plugin = {
  name: 'mantine-styles',
  apply: 'build',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const components = modules.map((id) => id.match(/@mantine\/core\/esm\/components\/(\w+)\//)?.[1])
    const imported = [...this.getModuleIds()].map((id) => id.match(/@mantine\/core\/styles\/(\w+)\.css/)?.[1])
    for (const component of components) {
      if (!imported.includes(component) && existsSync(`${styles}/${component}.css`)) {
        this.error(`mantine-styles.ts does not import '@mantine/core/styles/${component}.css'`)
      }
    }
  },
}

/** Smaller ones gain nothing. */
const LEAST_BYTES = 1024

/** Puts each file beside itself as `.br` and `.gz`, compressed harder than a server can do on the way. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    await Promise.all(
      files.map(async (file) => {
        const content = await readFile(file)
        if (content.length < LEAST_BYTES) return
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content))
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9, memLevel: 9 }))
      }),
    )
  },
}

/**
 * What several screens need, in one file. Left to itself the build makes one of whatever is needed by the same screens:
 * 54 for the journeys, where each is a request and compressed for itself. More of them in common make signing in larger
 * than it need be, fewer make more files.
 */
const shared = { name: 'shared', minShareCount: 4 }

/**
 * What choosing from a list needs is in a file beside it: screens that only show something, the first after signing in
 * among them, load none of it. Without what it depends on, which is shared.
 */
const choices = {
  name: 'choices',
  // Without what a plain select has as well. With its own user: were that among what is shared, each file would need the
  // other before it runs.
  test: /admin\/parts\/searched-select\.|@mantine\/core\/esm\/components\/(Combobox\/(?!ComboboxChevron|Combobox\.module|get-parsed)|(Pill|PillsInput|Select|TagsInput)\/)/,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** What checks a form, in a file of its own for the same reason. */
const forms = {
  name: 'forms',
  test: /@mantine\/form\//,
  includeDependenciesRecursively: false,
  priority: 1,
}

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: import.meta.dirname,
  base: '/admin/',
  define: { CAIRN_VERSION: JSON.stringify(manifest.version) },
  plugins: [mantineStyles, compressed],
  build: {
    outDir: '../dist/admin',
    emptyOutDir: true,
    assetsDir: 'assets',
    sourcemap: false,
    target: 'es2022',
    rolldownOptions: {
      // Every file of Mantine says 'use client', which means nothing here.
      checks: { moduleLevelDirective: false },
      output: { codeSplitting: { groups: [choices, forms, shared] } },
    },
  },
  server: {
    proxy: {
      '/v1': 'http://127.0.0.1:3000',
      '/docs': 'http://127.0.0.1:3000',
    },
  },
})
