import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectRedis } from '@intake/redis'
import { startRedis } from '@intake/local'
import { drained } from '../kit/checker.ts'
import { backlogOf, memoryUsed } from '../kit/observe.ts'
import { mayMount, smallDisk } from '../kit/small-disk.ts'
import { mayTrace, trace } from '../kit/strace.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario } from '../scenario.ts'

/**
 * Scenarios in which Redis has a slow or full disk, reaches its memory limit, loses its data, or
 * becomes a replica.
 */
export const redisStateScenarios: Scenario[] = [
  {
    id: 'F22',
    title: 'Redis killed while its disk takes 2 s for each sync',
    cannotRun: mayTrace,
    load: { rate: 100 },
    async run({ cluster, acknowledged, producer }) {
      for (let round = 0; round < 2; round++) {
        await acknowledged(50)
        // Freezes the worker, so that the records are only in Redis and not yet in ClickHouse.
        cluster.workers[0]!.freeze()
        const strace = await trace(cluster.redis.pid(), [
          'trace=fdatasync,fsync',
          'inject=fdatasync,fsync:delay_enter=2000000',
        ])
        await pause(7_000)
        const { acknowledged: before } = producer.counts()
        await until(
          'a record was acknowledged despite the slow disk',
          () => producer.counts().acknowledged > before,
          { stallMs: 20_000 },
        ).catch(() => undefined)
        // Waits for records that Redis has not written to disk yet. If Redis acknowledged them
        // before writing them, the kill would lose them.
        await until(
          'records wait to be written',
          async () => /aof_buffer_length:[1-9]/.test(await cluster.keys.info('persistence')),
          { stallMs: 5_000 },
        ).catch(() => undefined)
        await cluster.redis.kill()
        await strace.stop()
        await cluster.redis.start()
        cluster.workers[0]!.thaw()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F27',
    title: 'disk of Redis full: 503; once there is space again, nothing is missing',
    cannotRun: mayMount,
    load: { rate: 400, feedbackEvery: 0 },
    cluster: { workers: 0, redisDir: smallDisk },
    async run({ cluster, acknowledged, producer, expect }) {
      await acknowledged(100)
      // The filler leaves a few hundred KB of the disk free.
      const free = statfsSync(smallDisk)
      const filler = join(smallDisk, 'filler')
      writeFileSync(filler, Buffer.alloc(Math.max(0, free.bavail * free.bsize - 400_000)))
      await until('Redis has exited', () => !cluster.redis.running())
      const { refused } = producer.counts()
      await until('records are refused', () => producer.counts().refused > refused)
      rmSync(filler)
      await cluster.redis.start()
      await acknowledged(100)
      expect(cluster.gateways[0]!.running(), 'the gateway still runs')
      await cluster.addWorker()
    },
  },
  {
    id: 'F28',
    title: 'Redis at its memory limit: queue_full from 75 % on; at 100 % no worker spins',
    load: { rate: 200 },
    async run({ cluster, acknowledged, history, expect }) {
      const { keys } = cluster
      await acknowledged(100)
      const used = await memoryUsed(keys)
      await keys.config('SET', 'maxmemory', String(Math.round(used / 0.8)))
      const codes = () => history.events.flatMap((one) => (one.is === 'refused' ? [one.code] : []))
      await until('logs are refused', () => codes().includes('queue_full'))
      // Holds the inserts, so that frames are in progress when Redis reaches its memory limit.
      cluster.network.workerToClickHouse.set({ holdRequests: true })
      await keys.config('SET', 'maxmemory', String(512 * 1024 ** 2))
      await acknowledged(100)
      await until('frames are in progress', async () => (await backlogOf(keys)).active > 0)
      const nowUsed = await memoryUsed(keys)
      await keys.config('SET', 'maxmemory', String(nowUsed))
      const [worker] = cluster.workers
      const lines = worker!.log.length
      const { waiting, active } = await backlogOf(keys)
      await pause(5_000)
      cluster.network.workerToClickHouse.set()
      await pause(5_000)
      // At its memory limit, Redis cannot complete a frame. BullMQ logs this about four times per
      // frame. A worker that retries without a pause would log thousands of lines a second.
      const errors = worker!.log.length - lines
      const allowed = 10 * 10 + 4 * (waiting + active)
      expect(
        errors < allowed,
        `fewer than 10 errors a second and 4 per frame (${errors} of ${allowed})`,
      )
      expect(worker!.running(), 'the worker still runs')
      await keys.config('SET', 'maxmemory', String(512 * 1024 ** 2))
      await acknowledged(100)
    },
  },
  {
    id: 'F29',
    title:
      'Redis restarted with an empty volume: not ready, 503, until an operator acknowledges the loss',
    async run({ cluster, acknowledged, issued, producer, expect, dir }) {
      await acknowledged(100)
      cluster.network.gatewayToRedis.set({ refuse: true })
      cluster.network.gatewayToRedis.cut()
      await drained(cluster)
      await cluster.redis.kill()
      rmSync(join(dir, 'redis', 'data'), { recursive: true })
      await cluster.redis.start()
      cluster.network.gatewayToRedis.set()
      await until('the gateway has seen that the data is gone', async () => {
        const signal = AbortSignal.timeout(5_000)
        const ready = await fetch(`${cluster.gateways[0]!.adminUrl()}/readyz`, { signal })
        return (await ready.text()).includes('lost its data')
      })
      await issued(100) // by then earlier requests have their responses
      const { acknowledged: before } = producer.counts()
      await issued(500)
      expect(producer.counts().acknowledged === before, 'nothing is accepted')
      expect(!(await cluster.gatewayReady()), 'the gateway is not ready')
      const refused = await cluster.setUp({ acceptEmptyRedis: false }).then(
        () => false,
        () => true,
      )
      expect(refused, 'setup requires an operator')
      await cluster.setUp({ acceptEmptyRedis: true })
      await acknowledged(100)
    },
  },
  {
    id: 'F31',
    title: 'failover: the Redis of gateway and worker becomes a replica, and its address moves',
    async run({ cluster, acknowledged, later, expect, dir }) {
      const password = decodeURIComponent(new URL(cluster.redis.url()).password)
      const other = await startRedis({ dataDir: join(dir, 'redis-2'), port: 0, password })
      later(() => other.stop())
      const keys = connectRedis({ url: other.url, role: 'consumer', onError: () => undefined })
      later(async () => keys.disconnect())
      for (const one of [keys, cluster.keys]) await one.config('SET', 'masterauth', password)
      await keys.replicaof('127.0.0.1', cluster.redis.port())
      await until('the replica has the data', async () =>
        (await keys.info('replication')).includes('master_link_status:up'),
      )
      await acknowledged(100)
      const apps = [...cluster.gateways, ...cluster.workers]
      const lines = apps.map(({ log }) => log.length)
      // FAILOVER waits until the replica has all writes, so nothing confirmed is lost.
      await cluster.keys.call('FAILOVER', 'TO', '127.0.0.1', other.port)
      await until('the old one is a replica', async () =>
        (await cluster.keys.info('replication')).includes('role:slave'),
      )
      const reasons = async () => {
        const signal = AbortSignal.timeout(5_000)
        return (await fetch(`${cluster.gateways[0]!.adminUrl()}/readyz`, { signal })).text()
      }
      await until('the gateway reports it', async () =>
        (await reasons()).includes('Redis is a replica'),
      )
      expect(!(await cluster.gatewayReady()), 'the gateway is not ready')
      await pause(10_000)
      cluster.network.gatewayToRedis.redirect(other.port)
      cluster.network.workerToRedis.redirect(other.port)
      const since = performance.now()
      await acknowledged(1)
      const seconds = (performance.now() - since) / 1_000
      expect(seconds < 10, `records are accepted again after ${seconds.toFixed(1)} s`)
      await acknowledged(100)
      for (const [index, { name, log }] of apps.entries()) {
        const count = log.length - (lines[index] ?? 0)
        expect(count < 60, `${name} has logged few lines (${count})`)
      }
    },
  },
]
