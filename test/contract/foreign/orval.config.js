const output = {
  client: 'fetch',
  override: { mutator: { path: 'orval-fetch.ts', name: 'orvalFetch', extension: '.ts' } },
}

// biome-ignore lint/style/noDefaultExport: orval reads the default export
export default {
  cairn: { input: '../../../openapi.yaml', output: { ...output, target: 'dist/orval.ts' } },
  journey: { input: 'dist/journey.yaml', output: { ...output, target: 'dist/journey-orval.ts' } },
}
