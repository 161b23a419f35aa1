import { quantity } from '@intake/runtime'
import { createBacklogReader, queueKinds, type QueueName } from '@intake/queue'
import { createQueuePause } from '@intake/queue/consume'
import { Option, type Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { noteChange } from '../journal.ts'
import { withRedis } from '../with-redis.ts'
import { print, printJson } from '../print.ts'

const actions = { pause: 'queue-paused', resume: 'queue-resumed' } as const

const effect = `
While a queue is paused, workers take nothing from it and gateways continue to accept: the records wait in Redis.
Workers still store the frames that they have taken; until then these are "in progress". Watch the memory of Redis:
gateways refuse records when it is filling up.

Examples:
  intake queue pause                  before ClickHouse is upgraded
  intake queue pause --kind logs      feedback is stored as usual
  intake queue resume`

export function define(queue: Command): void {
  queue.addHelpText('after', effect)
  for (const change of ['pause', 'resume'] as const) {
    queue
      .command(change)
      .description(
        change === 'pause' ? 'stop workers from taking frames' : 'let workers take frames again',
      )
      .addOption(new Option('--kind <kind>', 'only this queue (default: all)').choices(queueKinds))
      .option('--json', 'print the queues as JSON')
      .addHelpText('after', effect)
      .action((options: { kind?: QueueName; json?: boolean }) =>
        withRedis(async (redis) => {
          const names = options.kind === undefined ? queueKinds : [options.kind]
          const readBacklogs = createBacklogReader({ redis })
          const before = await readBacklogs()
          if (before === undefined) throw noInstallation()
          for (const subject of names) {
            if (before.queues[subject].isPaused === (change === 'pause')) continue
            await noteChange(redis, { action: actions[change], subject, detail: {} })
          }
          await createQueuePause({ redis })[change](names)
          const backlogs = await readBacklogs()
          if (backlogs === undefined) throw noInstallation()
          const states = queueKinds.map((name) => {
            const { isPaused, waiting, active } = backlogs.queues[name]
            return { queue: name, paused: isPaused, waiting, in_progress: active }
          })
          if (options.json) printJson(states)
          else print(states.map(describe).join('\n'))
        }),
      )
  }
}

const noInstallation = () => new UsageError('Redis belongs to no installation.')

function describe(state: {
  queue: string
  paused: boolean
  waiting: number
  in_progress: number
}): string {
  const { queue, paused, waiting, in_progress } = state
  const counts = `${quantity(waiting, 'frame')} waiting, ${in_progress} in progress`
  return [queue, paused ? 'paused' : 'running', counts].join('\t')
}
