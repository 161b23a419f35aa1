import { setTimeout as pause } from 'node:timers/promises'
import { describeError, type ClickHouse } from '@intake/clickhouse'
import { kinds } from '@intake/contract'
import { createObjectStore } from '@intake/object-store'
import {
  createBucketTarget,
  createFolderTarget,
  exportRecords,
  verifyExport,
  type ExportScope,
  type ExportTarget,
} from '@intake/records'
import { quantity } from '@intake/runtime'
import { databaseOf, findAnalyst, readInstallation } from '@intake/schema'
import { InvalidArgumentError, type Command } from 'commander'
import { findBucket } from '../bucket.ts'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { noteChange, noteOnce } from '../journal.ts'
import { periodOption } from '../option-values.ts'
import { note, print } from '../print.ts'
import { withRedis } from '../with-redis.ts'

interface Options {
  to: string
  kind: ExportScope['kinds']
  bundle?: string[]
  analyst?: string
  every?: number
  verify?: boolean
}

const statementTimeoutMs = 30 * 60_000
const objectTimeoutMs = 120_000

const parsePeriod = periodOption('smh', 'Give a period such as 30s, 10m or 1h.')

const guide = `
Writes Parquet files in windows of received_at up to the watermark, so no record is missing and none is in two files.
manifests/<n>.json is written last. docs/export.md shows how DuckDB and ClickHouse read the files, with deletions.

Exit codes: 0 done, 1 failed (repeat it: it continues), 2 --verify has found problems.
intake user export and intake device export print what is stored about a person.`

export function define(command: Command): void {
  command
    .requiredOption('--to <target>', 'a folder (dir:PATH), or s3:PREFIX in the bucket of S3_BUCKET')
    .option('--kind <kinds>', 'logs, feedback, or both with a comma', parseKinds, kinds)
    .option('--bundle <identifiers...>', 'only these applications')
    .option('--analyst <name>', 'only what this analyst sees (intake analysts)')
    .option('--every <period>', 'repeat it until a signal, such as 10m', parsePeriod)
    .option('--verify', 'compare the files with their manifests and with ClickHouse')
    .addHelpText('after', guide)
    .action((options: Options) =>
      withClickHouse(
        (clickhouse) =>
          withTarget(options.to, (target) =>
            options.verify
              ? verify(clickhouse, target)
              : exportUntilSignal(clickhouse, target, options),
          ),
        { requestTimeoutMs: statementTimeoutMs },
      ),
    )
}

async function verify(clickhouse: ClickHouse, target: ExportTarget): Promise<void> {
  const { rows, files, problems } = await verifyExport(clickhouse, target)
  for (const problem of problems) print(problem)
  if (problems.length > 0) process.exitCode = 2
  else print(`${quantity(rows, 'record')} in ${quantity(files, 'file')}, as in their manifests.`)
}

/** Exports once or, with `--every`, until a signal. */
async function exportUntilSignal(
  clickhouse: ClickHouse,
  target: ExportTarget,
  options: Options,
): Promise<void> {
  const { every } = options
  const ending = new AbortController()
  const { signal } = ending
  const end = () =>
    ending.abort(new Error('The export was interrupted. The same command continues it.'))
  const scope = await scopeOf(clickhouse, options)
  const installation = await readInstallation(clickhouse)
  if (installation === null)
    throw new UsageError('ClickHouse belongs to no installation: intake setup.')
  const entry = { action: 'records-exported', subject: options.to, detail: { ...scope } } as const
  const onWindow = noteOnce(() => withRedis((redis) => noteChange(redis, entry)))
  const source = { clickhouse, installation, target, scope, signal, onWindow }
  const exportOnce = () => exportAndPrint({ ...source, progress: note })
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    await exportOnce()
    if (every === undefined) return
    while (!signal.aborted) {
      await pause(every, undefined, { signal }).catch(() => undefined)
      await exportOnce().catch((error: Error) => {
        // What failed is not lost.
        if (!signal.aborted) note(`Failed, and tried again later: ${describeError(error)}`)
      })
    }
  } catch (error) {
    if (every === undefined || !signal.aborted) throw error
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}

async function exportAndPrint(options: Parameters<typeof exportRecords>[0]): Promise<void> {
  const made = await exportRecords(options)
  const until = made.at(-1)?.window.until
  if (until === undefined) return print('Nothing to export.')
  const rows = made.reduce((sum, one) => sum + one.rows, 0)
  print(
    `${quantity(rows, 'record')} in ${quantity(made.length, 'window')}, complete up to ${until}`,
  )
}

async function scopeOf(
  clickhouse: ClickHouse,
  { kind, bundle, analyst }: Options,
): Promise<ExportScope> {
  const scope = { kinds: kind, bundles: (bundle ?? []).toSorted() }
  if (analyst === undefined) return { ...scope, database: 'intake' }
  const found = await findAnalyst(clickhouse, analyst)
  if (found === undefined) throw new UsageError(`There is no analyst ${analyst}.`)
  return { ...scope, database: databaseOf(found) }
}

async function withTarget(
  to: string,
  work: (target: ExportTarget) => Promise<void>,
): Promise<void> {
  const prefix = /^s3:([A-Za-z0-9/_.-]*)$/.exec(to)?.[1]
  if (to.startsWith('s3:')) {
    if (!prefix)
      throw new UsageError('Give a prefix of letters, digits, / _ . and -, as in s3:lake.')
    const objects = createObjectStore({ ...(await findBucket()), timeoutMs: objectTimeoutMs })
    return work(createBucketTarget(objects, prefix)).finally(() => objects.close())
  }
  const path = to.replace(/^dir:/, '')
  if (path === '') throw new UsageError('Name a folder, as in --to dir:/backup/lake.')
  return work(createFolderTarget(path))
}

function parseKinds(text: string): ExportScope['kinds'] {
  const names = text.split(',')
  const known = kinds.filter((kind) => names.includes(kind))
  if (known.length === names.length) return known
  throw new InvalidArgumentError(`Give ${kinds.join(', ')}, or both with a comma between them.`)
}
