import { rolldown } from 'rolldown'

/** The module and all that it imports as one minified module, as a front end ships it. */
export async function bundleForBrowser(file: string): Promise<string> {
  const bundle = await rolldown({ input: file, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return output[0].code
}
