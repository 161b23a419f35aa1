import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { backlogOf } from '../kit/observe.ts'
import { mayTrace, trace } from '../kit/strace.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

const rounds = 5

/**
 * Kills Redis five times as it enters the system call `call` on its append-only file, and restarts
 * it.
 */
async function killAtCall({ cluster, acknowledged, random, dir }: Stage, call: string) {
  const folder = join(dir, 'redis', 'data', 'appendonlydir')
  for (let round = 0; round < rounds; round++) {
    await acknowledged(50)
    const file = readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? ''
    const nth = 1 + Math.floor(random() * 30)
    const expressions = [`trace=${call}`, `inject=${call}:signal=SIGKILL:when=${nth}`]
    const strace = await trace(cluster.redis.pid(), expressions, { path: join(folder, file) })
    await until('Redis is dead', () => !cluster.redis.running())
    await strace.ended
    await cluster.redis.start()
  }
  await acknowledged(50)
}

/** Scenarios in which Redis is killed before and after every durable step of a frame. */
export const redisKillScenarios: Scenario[] = [
  {
    id: 'F21',
    title: 'Redis killed during adds and started again, five times',
    async run({ cluster, acknowledged, random }) {
      for (let round = 0; round < rounds; round++) {
        await acknowledged(50)
        await pause(random() * 100)
        await cluster.redis.kill()
        await pause(random() * 1_000)
        await cluster.redis.start()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F23a',
    title: 'Redis killed as it writes its append-only file, five times',
    cannotRun: mayTrace,
    run: (stage) => killAtCall(stage, 'write'),
  },
  {
    id: 'F23b',
    title: 'Redis killed as it syncs its append-only file, five times',
    cannotRun: mayTrace,
    run: (stage) => killAtCall(stage, 'fdatasync'),
  },
  {
    id: 'F23c',
    title: 'Redis killed after a frame was synced, before its reply, five times',
    async run({ cluster, acknowledged }) {
      const { gatewayToRedis } = cluster.network
      const waiting = async () => (await backlogOf(cluster.keys)).waiting
      for (let round = 0; round < rounds; round++) {
        cluster.workers[0]!.freeze()
        await acknowledged(30)
        gatewayToRedis.set({ holdAnswers: true })
        const before = await until('the queue can be read', waiting)
        await until('a frame is stored', async () => (await waiting()) > before)
        await cluster.redis.kill()
        gatewayToRedis.cut()
        gatewayToRedis.set()
        await cluster.redis.start()
        cluster.workers[0]!.thaw()
      }
      await acknowledged(50)
    },
  },
]
