import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

let shared: Promise<Browser> | undefined

/** The Chromium shared by all test files of a process; it ends with the process. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium()
  return shared
}

/**
 * Starts a headless Chromium that can reach only this machine: every other host fails to resolve.
 *
 * On Linux (x64) it is the Chromium of @sparticuz/chromium with the libraries and a font that it needs, so that the
 * machine needs only libc; elsewhere it is the installed Chrome.
 */
async function launchChromium(): Promise<Browser> {
  const args = [
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    '--disable-background-networking',
    // Pages of one context share a process, in which their code is already compiled.
    '--process-per-site',
    // Without these, a page starts in a process of its own, which ends when it navigates to its address.
    '--renderer-process-limit=1',
    '--disable-site-isolation-trials',
    // No page lives long enough for what V8 spends on optimizing its code.
    '--js-flags=--no-opt --no-maglev',
  ]
  // It shows only our own pages. Its sandbox refuses root, and ordinary users in most containers.
  const chromiumSandbox = false
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return chromium.launch({ args, chromiumSandbox, channel: 'chrome' })
  }
  const folder = unpackedChromium()
  return chromium.launch({
    args,
    chromiumSandbox,
    ...(hasSharedMemory() && { ignoreDefaultArgs: ['--disable-dev-shm-usage'] }),
    executablePath: join(folder, 'chromium'),
    env: {
      // biome-ignore lint/style/noProcessEnv: env replaces what the browser would inherit.
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  })
}

/** Whether Chromium may share memory as usual. In files instead pages take a tenth longer, but containers may have too little. */
function hasSharedMemory(): boolean {
  if (!existsSync('/dev/shm')) return false
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize >= LEAST_SHARED_BYTES
}

/** All pages of three workers take a fraction of this. */
const LEAST_SHARED_BYTES = 2 ** 30

/**
 * Returns the folder of the unpacked Chromium. It is unpacked once per version and user, because that takes seconds and
 * 200 MB. If several test files start at once, each unpacks it, and the first to finish renames its copy to the final
 * folder.
 */
function unpackedChromium(): string {
  const root = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { uid } = userInfo()
  const folder = join(tmpdir(), `cairn-chromium-${version}-${uid}`)
  if (!existsSync(folder)) {
    const unpacking = mkdtempSync(`${folder}-`)
    try {
      unpack(join(root, 'bin'), unpacking)
      renameSync(unpacking, folder)
    } catch (error) {
      rmSync(unpacking, { recursive: true })
      // A folder that is not empty is never replaced: another test file was first.
      if (!existsSync(folder)) throw error
    }
  }
  // Anyone could create a folder with this name in a world-writable place.
  if (lstatSync(folder).uid !== uid) throw new Error(`${folder} belongs to another user. Remove it.`)
  return folder
}

function unpack(packed: string, folder: string) {
  const content = (name: string) => brotliDecompressSync(readFileSync(join(packed, name)))
  writeFileSync(join(folder, 'chromium'), content('chromium.br'), { mode: 0o755 })
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    execFileSync('tar', ['--extract', '--no-same-owner', '--directory', folder], { input: content(name) })
  }
  writeFileSync(join(folder, 'fonts.conf'), fontConfiguration)
}

/** The machine's own fonts, if it has any, and the one that comes with Chromium. */
const fontConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`
