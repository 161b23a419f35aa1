import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer, redisPassword } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'

const cli = fileURLToPath(new URL('../tools/cli/dist/main.js', import.meta.url))
const dataDir = createDataDir(t)
const file = (name: string) => join(dataDir, name)

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const skip = hasOpenssl ? false : 'openssl, which makes the certificates, is not on the PATH'

t.test('Redis over TLS', { skip }, async (t: Test) => {
  // Creates a CA, and a server certificate for the name and the address of loopback.
  const openssl = (args: string) =>
    execFileSync('openssl', args.split(' '), { cwd: dataDir, stdio: 'ignore' })
  openssl('req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test-ca -keyout ca.key -out ca.pem')
  openssl(
    'req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout redis.key -out redis.csr ' +
      '-addext subjectAltName=DNS:localhost,IP:127.0.0.1',
  )
  openssl(
    'x509 -req -in redis.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -copy_extensions copy ' +
      '-out redis.pem',
  )

  const [plainPort, port, replicaPlainPort, replicaPort, clusterPlainPort, clusterPort, bus] =
    await freePorts(7)
  const tls = [
    `tls-cert-file ${file('redis.pem')}`,
    `tls-key-file ${file('redis.key')}`,
    `tls-ca-cert-file ${file('ca.pem')}`,
    'tls-auth-clients no',
  ]
  const single = await createRedisServer({
    dataDir,
    port: plainPort!,
    config: ['port 0', `tls-port ${port}`, ...tls],
  })
  const replica = await createRedisServer({
    dataDir,
    port: replicaPlainPort!,
    config: [
      'port 0',
      `tls-port ${replicaPort}`,
      ...tls,
      'tls-replication yes',
      `replicaof 127.0.0.1 ${port}`,
    ],
  })
  const node = await createRedisServer({
    dataDir,
    port: clusterPlainPort!,
    config: [
      'port 0',
      `tls-port ${clusterPort}`,
      ...tls,
      'cluster-enabled yes',
      'tls-cluster yes',
      // A cluster of one server cannot learn its own address from another server.
      'cluster-announce-ip 127.0.0.1',
      `cluster-port ${bus}`,
    ],
  })
  t.teardown(() => Promise.all([single, replica, node].map((one) => one.process.kill())))
  await Promise.all([single, replica, node].map((one) => one.process.start()))

  /** Runs commands over TLS on one of the Redis servers. */
  async function run(onPort: number, ...commands: string[]): Promise<string> {
    const socket = connect({ port: onPort, host: '127.0.0.1', ca: readFileSync(file('ca.pem')) })
    socket.write([`AUTH ${redisPassword}`, ...commands, 'QUIT', ''].join('\r\n'))
    return text(socket)
  }
  await run(clusterPort!, 'CLUSTER ADDSLOTSRANGE 0 16383')

  /** Runs the command line with these arguments, and returns what it prints. */
  async function intake(args: string[], env: Record<string, string>): Promise<string> {
    const child = spawn(process.execPath, [cli, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, errors] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return out + errors
  }
  const listKeys = (url: string, env: Record<string, string>) =>
    intake(['keys', 'list'], { REDIS_URL: url, ...env })

  for (const [title, url] of [
    ['one server by its name', `rediss://default:${redisPassword}@localhost:${port}`],
    ['one server by its address', `rediss://default:${redisPassword}@127.0.0.1:${port}`],
    ['a cluster', `rediss+cluster://default:${redisPassword}@localhost:${clusterPort}`],
  ] as const) {
    t.test(`TLS to ${title} uses the CA of NODE_EXTRA_CA_CERTS`, async (t) => {
      t.match(await listKeys(url, { NODE_EXTRA_CA_CERTS: file('ca.pem') }), /no installation/)
    })
  }

  t.test('a certificate of an unknown CA is the reason that one server is refused', async (t) => {
    t.match(
      await listKeys(`rediss://default:${redisPassword}@localhost:${port}`, {}),
      /certificate/,
    )
  })

  t.test('a cluster with a certificate of an unknown CA is refused', async (t) => {
    const url = `rediss+cluster://default:${redisPassword}@localhost:${clusterPort}`
    t.match(await listKeys(url, {}), /Connection is closed/)
  })

  t.test('the doctor examines replicas over TLS', async (t) => {
    await until('the replica is online', async () =>
      (await run(port!, 'INFO replication')).includes('state=online'),
    )
    await run(replicaPort!, 'CONFIG SET appendfsync everysec')
    const printed = await intake(['doctor'], {
      REDIS_URL: `rediss://default:${redisPassword}@localhost:${port}`,
      CLICKHOUSE_URL: 'http://u:p@127.0.0.1:1',
      S3_ENDPOINT: 'http://u:p@127.0.0.1:1',
      NODE_EXTRA_CA_CERTS: file('ca.pem'),
    })
    t.match(printed, `The replica 127.0.0.1:${replicaPort} has appendfsync everysec, not always.`)
  })
})
