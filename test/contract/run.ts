/**
 * `npm run contract -- --base-url URL --key KEY`: checks a running Cairn against the contract. It creates journeys,
 * which it archives at the end; the customers and events that it creates in them stay. Views, event definitions and
 * webhooks that it creates are removed.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    key: { type: 'string' },
    requests: { type: 'string', default: '200' },
  },
})
const { 'base-url': baseUrl, key, requests } = values

if (!baseUrl || !URL.canParse(baseUrl) || !key?.startsWith('sk_') || !/^[1-9][0-9]*$/.test(requests)) {
  process.stderr.write(
    'Usage: npm run contract -- --base-url http://127.0.0.1:3000/v1 --key sk_… [--requests 200]\n' +
      'The key is a secret one. requests is how many requests of each kind are generated for each operation.\n',
  )
  process.exit(2)
}
const files = ['examples', 'refusals', 'generated-requests', 'coverage'].map(
  (name) => `test/contract/${name}.test.ts`,
)
// One project only: the deployment has one engine.
const projects = ['--project', 'cairn', '--project', 'coverage']
const { status } = spawnSync(join('node_modules', '.bin', 'vitest'), ['run', ...projects, ...files], {
  stdio: 'inherit',
  env: {
    // biome-ignore lint/style/noProcessEnv: env replaces what the tests would inherit
    ...process.env,
    CAIRN_CONTRACT_BASE_URL: baseUrl.replace(/\/$/, ''),
    CAIRN_CONTRACT_KEY: key,
    CAIRN_CONTRACT_REQUESTS: requests,
  },
})
process.exitCode = status ?? 1
