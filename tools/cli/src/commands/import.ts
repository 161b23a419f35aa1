import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { createPolicyStore, watchPolicy } from '@intake/access'
import { createBacklogReader, type ReadBacklogs } from '@intake/queue'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { connectRedis, createReplicaAcks } from '@intake/redis'
import { pause, quantity } from '@intake/runtime'
import type { Command } from 'commander'
import { ackReplicas } from '../confirm-change.ts'
import { findEndpoint, UsageError } from '../endpoints.ts'
import type { ImportOptions } from '../import/import-records.ts'
import { noteChange, noteOnce } from '../journal.ts'
import { numberOption, wholeBundle } from '../option-values.ts'
import { note, print, printJson } from '../print.ts'
import { openRedis } from '../with-redis.ts'

interface Options {
  map: string
  bundle: string
  rate: number
  attempt: number
  rejected?: string
  json?: boolean
}

const guide = `
Imports log events of another system through the queue, with their own times. Ids follow from the source: importing a
file again, also after it was interrupted, changes nothing. Rules and suppressed users apply as for apps.
What was purged or erased remains hidden under its id: after a purge, import the file as another --attempt.

Maps:
  posthog    events of a PostHog export, one JSON object a line
  segment    track, screen and page calls of Segment, one JSON object a line
  csv:FILE   FILE says which columns are what (docs/import.md)

Exit codes: 0 all imported, 1 failed (run it again) or the map does not fit, 2 some lines are rejected.`

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
    .option('--rejected <file>', 'where rejected lines go; default: <file>.rejected.ndjson')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', guide)
    .action(run)
}

async function run(file: string, options: Options): Promise<void> {
  // Loads the code of the gateway only here.
  const { findMap } = await import('../import/maps.ts')
  const { readRows } = await import('../import/read-rows.ts')
  const { importRecords } = await import('../import/import-records.ts')
  const { bundle, rate, attempt, rejected = `${file}.rejected.ndjson`, json } = options
  const map = await findMap(options.map)
  const replicas = ackReplicas()
  const url = await findEndpoint('REDIS_URL')
  const queue = connectRedis({ url, role: 'producer', onError: () => undefined })
  // Waits while a server of a cluster is being connected; a producer's commands fail meanwhile.
  const { redis, ask } = await openRedis()
  const acks = replicas === 0 ? undefined : createReplicaAcks({ redis: queue, replicas })
  const sink = createJobSink({ redis: queue, kind: 'logs', acks })
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
    const noteImport = noteOnce(() =>
      ask(noteChange(redis, { action: 'records-imported', subject: bundle, detail })),
    )
    let hasRejected = false
    const result = await importRecords({
      rows: readRows(file, map.format),
      map,
      bundleIdentifier: bundle,
      attempt,
      rate,
      policy,
      producer: {
        async add(frame, deadline) {
          await noteImport()
          await producer.add(frame, deadline)
        },
      },
      untilRoom: () => untilRoom(() => ask(readBacklogs())),
      async onRejected({ line, text }, reason) {
        const entry = `${JSON.stringify({ line, reason, source: text })}\n`
        // The first one replaces the file of an earlier import, or a link that came with the file.
        if (!hasRejected && options.rejected === undefined) await rm(rejected, { force: true })
        await writeFile(rejected, entry, { mode: 0o600, flag: hasRejected ? 'a' : 'w' })
        hasRejected = true
      },
      onProgress: createProgressNotes(),
    })
    const { imported, rejected: bad, dropped } = result
    if (bad > 0) process.exitCode = 2
    if (json) printJson({ ...result, rejected_file: bad > 0 ? rejected : null })
    else {
      print(
        `${quantity(imported, 'record')} imported, ${bad} rejected, ${dropped} left out by rules`,
      )
      if (bad > 0) print(`Rejected lines with reasons: ${rejected}`)
    }
  } finally {
    policy?.close()
    await sink.close()
    queue.disconnect()
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
