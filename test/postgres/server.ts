import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { copyPrograms, giveTo } from './programs.ts'

/** A real PostgreSQL server with a folder of its own, reached by a unix socket. */
export type PostgresServer = {
  /** Where all of it lies, the socket too. */
  folder: string
  /** The process, for signals; undefined while it does not run. */
  pid(): number | undefined
  /** What it has logged since it was last started. */
  log(): string
  /** Starts it where it does not run, and waits until it takes connections. */
  start(): Promise<void>
  /**
   * Ends it and waits. SIGINT breaks connections off and ends in order, SIGTERM waits for clients to go, SIGQUIT leaves
   * everything to recovery, and SIGKILL is the crash.
   */
  end(signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Ends it and removes the folder. */
  remove(): Promise<void>
}

/** A `DATABASE_URL` for a database of the server in a folder. */
export function postgresUrl(folder: string, database = 'postgres'): string {
  // The parameter is what counts; a URL needs a host before its path.
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`
}

/**
 * Where folders are made: the path of a unix socket may have 107 characters, and TMPDIR may be long, or closed to the
 * user that the server runs as.
 */
const ROOM = '/tmp'

/** PostgreSQL refuses root; any other user will do. */
const NOBODY = 65_534

/**
 * Ends the server and removes its folder when the process that started it has ended, however that came about: the pipe
 * to it closes. On the pipe come the server's process identifiers, an empty line for none.
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
 * Everything that an answer promises is on, as it comes from PostgreSQL (`fsync`, `synchronous_commit`,
 * `full_page_writes`): the tests of durability use this server too, and the others lose little by it.
 */
const SETTINGS = {
  listen_addresses: '',
  // Servers of a run share it, each with its pools.
  max_connections: '500',
  // It would wake for every database of the run; a run is over before it is of use.
  autovacuum: 'off',
}

/**
 * Makes a server and starts it. Nothing of it outlives this process.
 * @param settings of postgresql.conf, beside and before those of all tests
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
  // In a session of its own: a signal to the group of the run would end it too early.
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
      // The names of a machine's languages are none of its business, nor are PG… variables.
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  // Texts in the order of people, and not of bytes: what relies on the engine's order is found.
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
      // Closed by the last of its processes: before that, no other server may use the folder.
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
