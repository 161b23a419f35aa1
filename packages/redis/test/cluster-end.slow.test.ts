import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'

const endMs = 60_000

/**
 * A program that connects, waits for a line of input, and disconnects as soon as a refresh of the
 * slots is running.
 */
const program = `
  import { connectRedis } from '@intake/redis'
  const redis = connectRedis({ url: process.argv[1], role: 'consumer', onError() {} })
  await redis.ping()
  console.log('connected')
  process.stdin.once('data', () => {
    process.stdin.destroy()
    const timer = setInterval(() => {
      if (!redis.isRefreshing) return
      clearInterval(timer)
      redis.disconnect()
    }, 1)
  })`

t.test('a process ends although it disconnects during a refresh of the slots', async (t) => {
  const cluster = await startRedisCluster({ dataDir: createDataDir(t), replicas: 0 })
  t.teardown(() => cluster.close())
  const child = spawn(
    process.execPath,
    ['--import=tsx', '--conditions=intake:source', '--input-type=module', '-e', program].concat(
      cluster.url,
    ),
    { stdio: ['pipe', 'pipe', 'inherit'], timeout: endMs, killSignal: 'SIGKILL' },
  )
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  for (const server of cluster.servers) server.process.freeze()
  t.teardown(() => cluster.servers.forEach((server) => server.process.thaw()))
  child.stdin.end('\n')
  t.same(await once(child, 'exit'), [0, null])
})
