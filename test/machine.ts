import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * What a test may need and not every machine permits, tried once. A test that cannot run is skipped by name, so that
 * the run counts it and it does not look as if it had passed.
 */
export const machine = {
  /** Whether `strace` may trace a process. */
  canTrace: () => succeeds('strace', '-f', '-qq', '-e', 'trace=fsync', '-o', '/dev/null', 'true'),
  /** Whether `prlimit` may limit the file size of another process. */
  canLimitFiles: () => succeeds('prlimit', '--pid', String(process.pid), '--fsize=unlimited:'),
  /** Whether a file system may be mounted. */
  canMount: () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-mount-'))
    const isMounted = succeeds('mount', '-t', 'tmpfs', 'tmpfs', folder)
    if (isMounted) spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
    return isMounted
  },
  /** Whether a process may have mounts of its own. */
  canUnshareMounts: () => succeeds('unshare', '--map-root-user', '--mount', 'true'),
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0
}
