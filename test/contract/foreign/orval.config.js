// biome-ignore lint/style/noDefaultExport: orval reads the default export
export default {
  cairn: {
    input: '../../../openapi.yaml',
    output: {
      target: 'dist/orval.ts',
      client: 'fetch',
      override: { mutator: { path: 'orval-fetch.ts', name: 'orvalFetch', extension: '.ts' } },
    },
  },
}
