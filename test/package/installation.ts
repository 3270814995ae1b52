import { execFile } from 'node:child_process'
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../cairn.ts'

const run = promisify(execFile)

/** Creates another project in the folder, with cairn-client installed as it would be published. */
export async function installPackage(project: string): Promise<void> {
  // Packed from a copy, because building replaces files that other tests may be reading.
  const copy = temporaryFolder()
  for (const name of ['client', 'generated', 'package.json', 'tsconfig.json']) {
    cpSync(name, join(copy, name), { recursive: true, filter: (file) => !file.endsWith('/dist') })
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  await run('npm', ['pack', '--pack-destination', project], { cwd: join(copy, 'client') })
  const [tarball = ''] = readdirSync(project)
  writeIn(project, 'package.json', JSON.stringify({ private: true, type: 'module' }))
  const options = ['--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...options, join(project, tarball)], { cwd: project })
}

/** Writes a file. @returns its path */
export function writeIn(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
