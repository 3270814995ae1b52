import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { copyPrograms, giveTo } from './programs.ts'

/** A real PostgreSQL server with its own folder, reached by a unix socket. */
export type PostgresServer = {
  /** Contains everything, including the socket. */
  folder: string
  /** The process id, for signals; undefined while it is not running. */
  pid(): number | undefined
  /** Its log since the last start. */
  log(): string
  /** Starts it if it is not running, and waits until it accepts connections. */
  start(): Promise<void>
  /**
   * Stops it and waits. SIGINT disconnects clients and shuts down cleanly, SIGTERM waits for clients, SIGQUIT leaves
   * everything to recovery, and SIGKILL is a crash.
   */
  end(signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Stops it and removes the folder. */
  remove(): Promise<void>
}

/** Returns a `DATABASE_URL` for a database of the server in a folder. */
export function postgresUrl(folder: string, database = 'postgres'): string {
  // Only the parameter counts; a URL needs a host before its path.
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`
}

/**
 * Parent of the folders: the path of a unix socket may have 107 characters, and TMPDIR may be long, or inaccessible to
 * the user that the server runs as.
 */
const ROOM = '/tmp'

/** PostgreSQL refuses root; any other user works. */
const NOBODY = 65_534

/**
 * Stops the server and removes its folder when the process that started it has ended for any reason, because its pipe
 * then closes. The pipe carries the server's process ids; an empty line means none.
 */
const KEEPER = `
  while read -r line; do pid=$line; done
  exec 2>/dev/null
  if [ -n "$pid" ] && kill -s QUIT "$pid"; then
    for turn in $(seq 500); do kill -s 0 "$pid" || break; sleep 0.02; done
    kill -s KILL "$pid"
  fi
  rm -rf "$0"`

/**
 * Durability is on, as by PostgreSQL's defaults (`fsync`, `synchronous_commit`, `full_page_writes`): the durability
 * tests use this server too, and the others lose little.
 */
const SETTINGS = {
  listen_addresses: '',
  // The servers of a run share it, each with its pools.
  max_connections: '500',
  // It would wake for every database of the run, and a run ends before it is useful.
  autovacuum: 'off',
}

/**
 * Creates and starts a server. Nothing of it outlives this process.
 * @param settings of postgresql.conf, in addition to and before those of all tests
 */
export async function startPostgresServer(
  programs: string,
  settings: Record<string, string> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(ROOM, 'cairn-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const own = join(folder, 'native')
  const data = join(folder, 'data')
  mkdirSync(own)
  copyPrograms(programs, own)
  if (user.uid) giveTo(user.uid, folder)
  // In a session of its own: a signal to the process group of the run would stop it too early.
  const keeper = spawn('sh', ['-c', KEEPER, folder], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const removed = once(keeper, 'exit')
  const keep = (pid: number | '') => keeper.stdin.write(`${pid}\n`)
  const run = (program: string, args: string[]) =>
    spawn(join(own, 'bin', program), args, {
      ...user,
      cwd: '/',
      // It should not depend on the machine's locale or PG… variables.
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  // A linguistic collation, not by bytes, so that code that relies on the engine's order is found.
  const order = ['--locale=C', '--locale-provider=icu', '--icu-locale=en']
  let server: { process: ChildProcess; ended: Promise<unknown> } | undefined
  let log = ''
  const started: PostgresServer = {
    folder,
    pid: () => server?.process.pid,
    log: () => log,
    async start() {
      if (server) return
      const all = Object.entries({ ...SETTINGS, unix_socket_directories: folder, ...settings })
      const child = run('postgres', [
        '-D',
        data,
        ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ])
      keep(child.pid ?? '')
      // Closed by the last of its processes; before that no other server may use the folder.
      const ended = once(child, 'close').then(() => {
        server = undefined
        keep('')
      })
      server = { process: child, ended }
      log = ''
      const ready = Promise.withResolvers<void>()
      child.stderr.setEncoding('utf8').on('data', (text) => {
        log += text
        if (log.includes('ready to accept')) ready.resolve()
      })
      await Promise.race([ready.promise, ended])
      if (!server) throw new Error(`PostgreSQL did not start: ${log}`)
    },
    async end(signal) {
      server?.process.kill(signal)
      await server?.ended
    },
    async remove() {
      await started.end('SIGQUIT')
      keeper.stdin.end()
      await removed
    },
  }
  try {
    await endWell(run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', ...order]))
    await started.start()
  } catch (error) {
    await started.remove()
    throw error
  }
  return started
}

async function endWell(child: ChildProcess) {
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${printed}`)
}
