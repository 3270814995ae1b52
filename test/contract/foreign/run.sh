#!/usr/bin/env bash
# What programs make of the contract that share nothing with ours. Needs the repository's own npm ci before.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The Node of the repository, whatever the machine has.
bin="$(cd ../../.. && pwd)/node_modules/.bin"
if [ ! -x "$bin/node" ]; then
  echo "run.sh: run npm ci at the top of the repository first" >&2
  exit 1
fi
export PATH="$bin:$PATH"

npm ci
npm test
