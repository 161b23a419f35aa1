import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { startReadyChild, superviseProcess, type SupervisedProcess } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { usersConfig } from '../../tools/local/src/engines/clickhouse-config.ts'
import { startFront } from './front.ts'

export interface Server {
  /** The URL of the server's front (front.ts), with credentials. */
  url: string
  /** Sends SIGKILL; resolves when the server has ended. */
  kill(): Promise<void>
  /**
   * Starts the server again on its data. Resolves when it executes queries.
   *
   * @param shards how many of the servers are shards of the cluster from now on
   */
  start(shards: number): Promise<void>
}

const script = fileURLToPath(new URL('server.mjs', import.meta.url))
const readyMs = 120_000
export const cluster = 'fleet'
/** A cluster in whose only shard each server is a replica. */
export const replicas = 'replicas'

/**
 * Starts `servers` servers, and stops all of them when the test ends. The first `shards` of them
 * form a cluster. A server that ends by itself is started again, as it would be in production. The
 * embedded engine often aborts a few seconds after another server of its cluster was killed.
 */
export async function startCluster(
  t: Test,
  options: {
    servers: number
    shards: number
    /** More users, as files for the folder users.d. */
    users: readonly string[]
  },
): Promise<Server[]> {
  const { servers: count, shards, users } = options
  const ports = await freePorts(2 * count)
  const [http, tcp] = [ports.slice(0, count), ports.slice(count)]
  const targets = http.map((port) => `http://127.0.0.1:${port}`)
  let members = targets.slice(0, shards)
  const servers = await Promise.all(
    targets.map(async (target, index) => {
      const server = defineServer(t, {
        name: `Shard ${index + 1}`,
        http: http[index]!,
        tcp,
        index,
        users,
      })
      await server.start(shards)
      const front = await startFront({ target, members: () => members })
      t.teardown(() => front.close())
      const start = (size: number) => {
        members = targets.slice(0, size)
        return server.start(size)
      }
      return { ...server, start, url: `http://intake:secret@127.0.0.1:${front.port}` }
    }),
  )
  return servers
}

function defineServer(
  t: Test,
  {
    name,
    http,
    tcp,
    index,
    users,
  }: { name: string; http: number; tcp: number[]; index: number; users: readonly string[] },
): Omit<Server, 'url'> {
  const dir = createDataDir(t)
  mkdirSync(join(dir, 'data'))
  const [config, usersFile] = [join(dir, 'config.xml'), join(dir, 'users.xml')]
  writeFileSync(usersFile, shippedUsers())
  mkdirSync(join(dir, 'users.d'))
  for (const [n, xml] of users.entries()) writeFileSync(join(dir, 'users.d', `${n}.xml`), xml)
  const launch = ({ signal }: { signal: AbortSignal }) =>
    startReadyChild({
      name,
      command: process.execPath,
      args: [script, join(dir, 'data'), config, String(http), String(tcp[index])],
      logFile: join(dir, 'log'),
      signal,
      readyMs,
      probe: async () => (await responds(http)) && (await accepts(tcp[index]!)),
    })
  let server: SupervisedProcess | undefined
  t.teardown(() => server?.stop())
  return {
    start: async (shards) => {
      writeFileSync(config, serverConfig(usersFile, tcp.slice(0, shards)))
      // Repeats the start until it succeeds. The system holds the connections of a killed server
      // for some time, and until they end, the engine cannot listen on its TCP port.
      await until(`${name} responds`, async () => {
        const say = (line: string) => t.comment(line)
        server = superviseProcess({ name, launch, say, onChange: () => {} })
        await server.start()
        return true
      })
    },
    kill: async () => {
      server?.kill()
      await server?.stop()
    },
  }
}

const responds = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/?query=SELECT+1&user=intake&password=secret`, {
    signal: AbortSignal.timeout(1_000),
  }).then(
    ({ ok }) => ok,
    () => false,
  )

const accepts = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const serverConfig = (users: string, tcp: readonly number[]) => {
  const servers = tcp.map(
    (port) => `<replica>
      <host>127.0.0.1</host><port>${port}</port><user>intake</user><password>secret</password>
    </replica>`,
  )
  const shard = (content: string) =>
    `<shard><internal_replication>true</internal_replication>${content}</shard>`
  return `<clickhouse>
  <users_config>${users}</users_config>
  <timezone>UTC</timezone>
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
  <remote_servers>
    <${cluster}>${servers.map((server) => shard(server)).join('')}</${cluster}>
    <${replicas}>${shard(servers.join(''))}</${replicas}>
  </remote_servers>
</clickhouse>`
}

/**
 * The users of a deployed server (deploy/clickhouse/users.xml), with the grants of
 * docs/deploy/clickhouse.md for a cluster.
 */
function shippedUsers(): string {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const [own] = /<query>GRANT ALL ON intake\.[^]*?(?=<\/grants>)/.exec(
    read('deploy/clickhouse/users.xml'),
  )!
  let users = usersConfig({
    intake: 'secret',
    worker: 'worker',
    reader: 'reader',
    analyst: 'analyst',
  }).replace('<access_management>1</access_management>', `<grants>${own}</grants>`)
  for (const [, right, names = ''] of read('docs/deploy/clickhouse.md').matchAll(
    /^GRANT (.*) TO (.*);$/gm,
  )) {
    for (const name of names.split(', ')) {
      const grants = new RegExp(`(<${name}>\\s*<password[^]*?)</grants>`)
      users = users.replace(grants, `$1<query>GRANT ${right}</query></grants>`)
    }
  }
  return users
}
