import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

let shared: Promise<Browser> | undefined

/** The Chromium in which all test files of a process have contexts of their own; it ends with the process. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium()
  return shared
}

/**
 * Starts a headless Chromium. It reaches this machine alone: every other host fails like one
 * that does not exist.
 *
 * On Linux (x64) it is the Chromium of @sparticuz/chromium with the libraries and a font that it needs, so that a
 * machine has to offer nothing but libc; elsewhere it is the Chrome that is installed.
 */
async function launchChromium(): Promise<Browser> {
  const args = [
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    '--disable-background-networking',
    // Pages of one context share one, which has compiled what they all run.
    '--process-per-site',
    // A page begins empty: without these, in a process of its own that ends when it has come to its address.
    '--renderer-process-limit=1',
    '--disable-site-isolation-trials',
  ]
  // It shows our own pages only. Its sandbox refuses root, and ordinary users in most containers.
  const chromiumSandbox = false
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return chromium.launch({ args, chromiumSandbox, channel: 'chrome' })
  }
  const folder = unpackedChromium()
  return chromium.launch({
    args,
    chromiumSandbox,
    executablePath: join(folder, 'chromium'),
    env: {
      // biome-ignore lint/style/noProcessEnv: env replaces what the browser would inherit.
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  })
}

/**
 * The folder of the unpacked Chromium, unpacked where it is not there yet: once for each version and user, since that
 * takes seconds and 200 MB. Test files that start at once each unpack for themselves, and the first to be ready gives
 * the folder its name.
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
  // Anyone may put a folder of this name where everyone may write.
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

/** The machine's own fonts, where it has any, and the one that comes with Chromium. */
const fontConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`
