import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import manifest from '../package.json' with { type: 'json' }

const styles = `${import.meta.dirname}/../node_modules/@mantine/core/styles`

/** Fails the build if it contains a Mantine component whose class names mantine-styles.ts imports no styles for. */
const mantineStyles: Plugin = {
  name: 'mantine-styles',
  apply: 'build',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const components = modules.map(
      (id) => id.match(/@mantine\/core\/esm\/components\/(\w+)\/.*\.module\.mjs$/)?.[1],
    )
    const imported = [...this.getModuleIds()].map((id) => id.match(/@mantine\/core\/styles\/(\w+)\.css/)?.[1])
    for (const component of components) {
      if (!imported.includes(component) && existsSync(`${styles}/${component}.css`)) {
        this.error(`mantine-styles.ts does not import '@mantine/core/styles/${component}.css'`)
      }
    }
  },
}

/** Smaller files are not worth compressing. */
const LEAST_BYTES = 1024

/** Writes a `.br` and a `.gz` next to each file, compressed harder than a server could on the fly. */
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
 * One chunk for what several screens share. By default the build makes a chunk for each set of screens that share something:
 * 54 files for the journeys screen, each a separate request and compressed on its own. A lower count would make the sign-in
 * page larger than necessary, a higher one would make more files.
 */
const shared = { name: 'shared', minShareCount: 4 }

/** One chunk for what the frame shares with a few screens: a visit to any of them loads all of it. */
const navigation = {
  name: 'navigation',
  test: /icons\/Icon(Activity|History|Key|Users)\.|admin\/overview\/(refused-share|rejections)\.|\/use-disclosure\./,
  includeDependenciesRecursively: false,
  priority: 1,
}

/**
 * A chunk for choosing from lists: screens that only show data, such as the first one after signing in, do not load it. Its
 * dependencies are in the shared chunk.
 */
const choices = {
  name: 'choices',
  // Excludes what a plain select also uses. Includes its own user: if that were in the shared chunk, each of the two chunks
  // would need the other one first.
  test: /admin\/parts\/forms\/searched-select\.|@mantine\/core\/esm\/components\/(Combobox\/(?!ComboboxChevron|Combobox\.module|get-parsed)|(Pill|PillsInput|Select|TagsInput)\/)|styles\/Pill/,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** A chunk for validating forms, for passwords and for signing in, for the same reason. */
const forms = {
  name: 'forms',
  test: /@mantine\/form\/|@mantine\/core\/esm\/components\/PasswordInput\/|admin\/session\/(kept-session|new-password|password-field)\./,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** Chunks for what only some forms have: checkboxes and switches, without the check mark of menus, and times. */
const checks = {
  name: 'checks',
  test: /@mantine\/core\/(esm\/utils\/(InlineInput|InputsGroupFieldset)\/|esm\/components\/Checkbox\/(?!CheckIcon)|styles\/(InlineInput|Checkbox)\.)/,
  includeDependenciesRecursively: false,
  priority: 1,
}
const instants = {
  name: 'instants',
  test: /admin\/parts\/(instants\/(instant-input|typed-instant)|filters\/instant-field)\./,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** A chunk for saved views: its parts are in four or more places, but most visits need none of them. */
const views = {
  name: 'views',
  test: /admin\/views\/(?!views-button\.|view\.|shared\.|view-links\.)/,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** A chunk for what reports compare and how it is chosen, for the same reason. */
const comparisons = {
  name: 'comparisons',
  test: /admin\/reports\/(breakdown-fields|compare-fields|difference|finding|funnel-lines|group-|observed-variables|part-fields|period-text|points-text|report-(comparisons?|groups)\.|touch-field|variable-fields)/,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** A chunk for what only forms and secrets need before the page is left, for the same reason. */
const leaving = {
  name: 'leaving',
  test: /admin\/parts\/(forms\/leave-guard|shown-once-dialog|lost-response)\./,
  includeDependenciesRecursively: false,
  priority: 1,
}

/** Chunks for JSON, and for lists that arrow keys move in, for the same reason. */
const json = {
  name: 'json',
  test: /admin\/parts\/json\//,
  includeDependenciesRecursively: false,
  priority: 1,
}
const arrowKeys = {
  name: 'arrow-keys',
  test: /admin\/parts\/lists\/arrow-keys\./,
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
    // Browsers that do not preload modules load them all the same, later.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Every file of Mantine begins with 'use client', which has no meaning here.
      checks: { moduleLevelDirective: false },
      output: {
        codeSplitting: {
          groups: [
            arrowKeys,
            choices,
            forms,
            checks,
            comparisons,
            instants,
            json,
            leaving,
            navigation,
            views,
            shared,
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/v1': 'http://127.0.0.1:3000',
      '/docs': 'http://127.0.0.1:3000',
    },
  },
})
