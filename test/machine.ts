import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * What a test may need that not every machine lets it do, tried once. A test that cannot be run is skipped by name, so that
 * the run counts it: it must not look as if it had passed.
 */
export const machine = {
  /** `strace` may watch a process. */
  canTrace: () => succeeds('strace', '-f', '-qq', '-e', 'trace=fsync', '-o', '/dev/null', 'true'),
  /** `prlimit` may bound the files of another process. */
  canLimitFiles: () => succeeds('prlimit', '--pid', String(process.pid), '--fsize=unlimited:'),
  /** A file system may be mounted. */
  canMount: () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-mount-'))
    const isMounted = succeeds('mount', '-t', 'tmpfs', 'tmpfs', folder)
    if (isMounted) spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
    return isMounted
  },
  /** A process may have mounts of its own. */
  canUnshareMounts: () => succeeds('unshare', '--map-root-user', '--mount', 'true'),
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0
}
