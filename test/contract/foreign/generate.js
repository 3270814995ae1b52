import { createClient } from '@hey-api/openapi-ts'

for (const [input, path] of [
  ['../../../openapi.yaml', 'dist/hey-api'],
  ['./dist/journey.yaml', 'dist/journey-hey-api'],
]) {
  await createClient({ input, output: { path, module: { extension: '.ts' } }, logs: { file: false } })
}
