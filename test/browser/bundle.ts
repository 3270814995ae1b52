import { rolldown } from 'rolldown'
import { build } from 'vite'

/** Bundles the module with all its imports into one minified module, as a front end ships it. */
export async function bundleForBrowser(file: string): Promise<string> {
  const bundle = await rolldown({ input: file, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return output[0].code
}

/** The same as Vite bundles it into an application's page. */
export async function bundleByVite(file: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      // Vite adds it to a page once, whatever is imported.
      modulePreload: { polyfill: false },
      rolldownOptions: { input: file, preserveEntrySignatures: 'strict' },
    },
  })
  const [bundle] = [built].flat()
  if (!bundle || !('output' in bundle)) throw new Error('Vite watches')
  return bundle.output[0].code
}
