import { once } from 'node:events'
import { appendFile, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { createPolicyStore, watchPolicy } from '@intake/access'
import { createBacklogReader, type ReadBacklogs } from '@intake/queue'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { createReplicaAcks } from '@intake/redis'
import { pause, quantity } from '@intake/runtime'
import type { Command } from 'commander'
import { ackReplicas } from '../confirm-change.ts'
import { UsageError } from '../endpoints.ts'
import type { ImportOptions } from '../import/import-records.ts'
import { noteChange, noteOnce } from '../journal.ts'
import { numberOption, wholeBundle } from '../option-values.ts'
import { note, print } from '../print.ts'
import { openRedis } from '../with-redis.ts'

interface Options {
  map: string
  bundle: string
  rate: number
  attempt: number
}

const guide = `
Imports log events of another system through the queue, with their own times. Ids follow from the source: importing a
file again, also after it was interrupted, changes nothing. Rules and suppressed users apply as for apps.
What was purged or erased remains hidden under its id: after a purge, import the file as another --attempt.

Maps:
  posthog    events of a PostHog export, one JSON object a line
  segment    track, screen and page calls of Segment, one JSON object a line
  csv:FILE   FILE says which columns are what (docs/import.md)

Exit codes: 0 all imported, 1 failed (run it again) or the map does not fit, 2 some lines are rejected: <file>.rejected.ndjson
has them with their reasons.`

/** Frames that may wait in Redis; more would only fill its memory. */
const waitingMax = 100
const pollMs = 500
const progressMs = 5_000

export function define(command: Command): void {
  command
    .argument('<file>', 'the file; .gz is decompressed')
    .requiredOption('--map <map>', 'posthog, segment or csv:FILE')
    .requiredOption(
      '--bundle <identifier>',
      'the application that the events belong to',
      wholeBundle,
    )
    .option('--rate <records>', 'records per second', numberOption({ max: 1e6 }), 5_000)
    .option('--attempt <number>', 'another one gives events other ids', numberOption({}), 1)
    .addHelpText('after', guide)
    .action(run)
}

async function run(file: string, options: Options): Promise<void> {
  // Loads the code of the gateway only here.
  const { findMap } = await import('../import/maps.ts')
  const { readRows } = await import('../import/read-rows.ts')
  const { importRecords } = await import('../import/import-records.ts')
  const { bundle, rate, attempt } = options
  const map = await findMap(options.map)
  const replicas = ackReplicas()
  const rejectedFile = `${file}.rejected.ndjson`
  // That of an earlier import, or a link that came with the file.
  await rm(rejectedFile, { force: true })
  // Waits while a server of a cluster is being connected; a producer's commands fail meanwhile.
  const { redis, ask } = await openRedis()
  const acks = replicas === 0 ? undefined : createReplicaAcks({ redis, replicas })
  const sink = createJobSink({ redis, kind: 'logs', acks })
  let policy: ReturnType<typeof watchPolicy> | undefined
  try {
    await ask(once(redis, 'ready'))
    const store = createPolicyStore({ redis })
    // Nothing may be accepted before it is loaded. If that fails, the import ends.
    const loaded = store.load()
    policy = watchPolicy({
      store: { load: (known) => (known === undefined ? loaded : store.load(known)) },
      intervalMs: 2_000,
      onError: () => undefined,
      onUnreadable: (names) => note(`Cannot be read: ${names.join(', ')}`),
    })
    await ask(loaded)
    const producer = createFrameProducer({ sink })
    const readBacklogs = createBacklogReader({ redis })
    const detail = { map: options.map, file: basename(file) }
    const entry = { action: 'records-imported', subject: bundle, detail } as const
    const noteImport = noteOnce(() => ask(noteChange(redis, entry)))
    const { imported, rejected, dropped } = await importRecords({
      rows: readRows(file, map.format),
      map,
      bundleIdentifier: bundle,
      attempt,
      rate,
      policy,
      producer: {
        add: (frame, deadline) => noteImport().then(() => producer.add(frame, deadline)),
      },
      untilRoom: () => untilRoom(() => ask(readBacklogs())),
      onRejected({ line, text }, reason) {
        const rejection = `${JSON.stringify({ line, reason, source: text })}\n`
        return appendFile(rejectedFile, rejection, { mode: 0o600 })
      },
      onProgress: createProgressNotes(),
    })
    print(
      `${quantity(imported, 'record')} imported, ${rejected} rejected, ${dropped} left out by rules`,
    )
    if (rejected > 0) {
      process.exitCode = 2
      print(`Rejected lines with reasons: ${rejectedFile}`)
    }
  } finally {
    policy?.close()
    await sink.close()
    redis.disconnect()
  }
}

/** Tells the progress from time to time. */
function createProgressNotes(): ImportOptions['onProgress'] {
  const startedAt = performance.now()
  let toldAt = startedAt
  return ({ imported, rejected }, share) => {
    const now = performance.now()
    if (now < toldAt + progressMs) return
    toldAt = now
    const left = share === 0 ? 0 : ((now - startedAt) * (1 - share)) / share / 60_000
    note(
      `${Math.floor(share * 100)} %, ${imported} records, ${rejected} rejected, about ${Math.ceil(left)} min left`,
    )
  }
}

/** Workers store what waits; while they do not, nothing more is added. Resolves to Redis's clock. */
async function untilRoom(readBacklogs: ReadBacklogs): Promise<number> {
  for (let isTold = false; ; isTold = true) {
    const backlogs = await readBacklogs()
    if (backlogs === undefined) throw new UsageError('Redis belongs to no installation.')
    const { waiting, delayed } = backlogs.queues.logs
    if (waiting + delayed < waitingMax) return backlogs.nowMs
    if (!isTold) note('waiting for workers to store what is in the queue')
    await pause(pollMs)
  }
}
