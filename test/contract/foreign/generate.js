import { createClient } from '@hey-api/openapi-ts'

await createClient({
  input: '../../../openapi.yaml',
  output: { path: 'dist/hey-api', module: { extension: '.ts' } },
  logs: { file: false },
})
