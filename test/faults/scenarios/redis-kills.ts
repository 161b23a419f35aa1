import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { killWhenEnqueued } from '../kit/kill-while.ts'
import { killAtCall, mayTrace } from '../kit/strace.ts'
import type { Scenario, Stage } from '../scenario.ts'

const rounds = 5

/** Kills Redis five times as it enters the system call `call` on its append-only file. */
async function killAtAppend({ cluster, acknowledged, random, dir }: Stage, call: string) {
  const folder = join(dir, 'redis', 'data', 'appendonlydir')
  for (let round = 0; round < rounds; round++) {
    await acknowledged(50)
    const file = readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? ''
    const nth = 1 + Math.floor(random() * 30)
    await killAtCall(cluster.redis, { call, nth, path: join(folder, file) })
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
    run: (stage) => killAtAppend(stage, 'write'),
  },
  {
    id: 'F23b',
    title: 'Redis killed as it syncs its append-only file, five times',
    cannotRun: mayTrace,
    run: (stage) => killAtAppend(stage, 'fdatasync'),
  },
  {
    id: 'F23c',
    title: 'Redis killed after a frame was synced, before its reply, five times',
    run: (stage) =>
      killWhenEnqueued(stage, { part: stage.cluster.redis, network: { holdAnswers: true } }),
  },
]
