import { createApiKeyStore, keyLimitNames } from '@intake/access'
import { quantity } from '@intake/runtime'
import type { Command } from 'commander'
import { demoBundles } from '../demo/apps.ts'
import { inventHistory } from '../demo/history.ts'
import { countDemo, demoKeyName, findDemoKeys, removeDemo } from '../demo/remove.ts'
import { sendHistory, sendLive, untilKeyIsKnown } from '../demo/send.ts'
import { runningStack, UsageError } from '../endpoints.ts'
import { operator } from '../journal.ts'
import { numberOption } from '../option-values.ts'
import { note, print } from '../print.ts'
import { withServices } from '../services.ts'
import { changeRedis } from '../with-redis.ts'

interface DemoFlags {
  events: number
  days: number
  rate: number
  live?: boolean
  url?: string
  remove?: boolean
  yes?: boolean
}

/** Older events than of 30 days are refused by gateways. */
const daysMax = 29
const previewExitCode = 3
const incompleteExitCode = 2

/** So high that the demo never waits for a limit of a minute. */
const limits = Object.fromEntries(
  keyLimitNames.filter((name) => name.endsWith('PerMinute')).map((name) => [name, 1e10]),
)

export function define(demo: Command): void {
  const days = `the days over which they are spread, at most ${daysMax}`
  demo
    .option('--events <n>', 'log events of the past', numberOption({ max: 1e6 }), 5_000)
    .option('--days <n>', days, numberOption({ max: daysMax }), 7)
    .option('--live', 'then go on until Ctrl-C, with events of the present')
    .option('--rate <n>', 'events a second of --live', numberOption({ max: 10_000 }), 2)
    .option('--url <url>', 'the gateway; default: that of npm start')
    .option('--remove', 'take away all demos: records, pictures, counts and API keys')
    .option('--yes', 'with --remove: do it; without it the command only counts')
    .addHelpText(
      'after',
      `
The apps are com.example.demo.shop, .fitness and .notes, with two releases each. What is worth finding: a crash that
is new in shop 2.5.0, a param of fitness 1.9.0 that has become text, e-mail addresses in a param of notes 4.0.0, and
that notes sends nothing any more. Feedback has pictures; a webhook that is configured gets it, too.
Each demo has an API key of its own, for ${demoBundles} only.`,
    )
    .action((flags: DemoFlags) => (flags.remove ? remove(flags) : send(flags)))
}

async function send({ events, days, rate, live, url }: DemoFlags): Promise<void> {
  const gateway = url ?? (await runningStack())?.gateway
  if (gateway === undefined) throw new UsageError('No stack of npm start is running: give --url.')
  if (!URL.canParse(gateway)) throw new UsageError(`${gateway} is not the URL of a gateway.`)
  const { secret: apiKey } = await changeRedis((redis) =>
    createApiKeyStore({ redis, who: operator() }).create({
      name: demoKeyName,
      bundleIdentifiers: [demoBundles],
      limits,
    }),
  )
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const target = { url: gateway, apiKey, signal: stopped.signal }
  try {
    await untilKeyIsKnown(target)
    const sent = await sendHistory(inventHistory({ events, days, now: Date.now() }), target)
    print(
      `Sent ${sent.events} log events and ${sent.feedback} feedback with pictures, of ${quantity(days, 'day')}.`,
    )
    if (live && !stopped.signal.aborted) {
      note('Sending live; Ctrl-C ends it.')
      print(`Sent ${await sendLive({ ...target, rate })} events live.`)
    }
    print('intake demo --remove --yes takes it all away.')
  } finally {
    stop()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

async function remove({ yes }: DemoFlags): Promise<void> {
  await withServices(async (services) => {
    const keys = await findDemoKeys(services)
    if (keys.length === 0) return print('There is no demo.')
    if (!yes) {
      const rows = await countDemo(services, keys)
      print(`${quantity(rows, 'record')} of demos are stored. Nothing is removed: add --yes.`)
      process.exitCode = previewExitCode
      return
    }
    const { events, feedback, objects, keysLeft } = await removeDemo(services, keys)
    print(
      `Removed ${events} log events, ${feedback} feedback and ${objects} objects (pictures and thumbnails), with their counts.`,
    )
    if (keysLeft === 0) return print('Revoked the API keys of demos.')
    print('INCOMPLETE: run it again when a worker is running.')
    process.exitCode = incompleteExitCode
  })
}
