import type { ClickHouse } from '@intake/clickhouse'
import { quantity } from '@intake/runtime'
import {
  findExpired,
  monthlyKinds,
  readExpiry,
  readPeriods,
  retentionKinds,
  writePeriod,
  type Expired,
  type Periods,
  type RetentionKind,
} from '@intake/records'
import { primaryOf } from '@intake/redis'
import { Argument, InvalidArgumentError, type Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { applyRetention } from '../retention/apply-retention.ts'
import { noteChange } from '../journal.ts'
import { wholeBundle } from '../option-values.ts'
import { createProgress } from '../progress.ts'
import { withServices } from '../services.ts'
import { print, printJson, printRow } from '../print.ts'
import { withRedis } from '../with-redis.ts'

const daysMax = 36_500

const guide = `
Records are dropped by whole months, once all of the month is older than the period; dead letters are dropped one by
one. Gateways refuse ids of what was dropped.
Counts (intake.hours, intake.catalogue) are kept as long as logs, or longer: then they have no devices and no examples.
--bundle keeps the logs or feedback of one application for a shorter time. They are dropped by days; general: no longer.`

export function define(retention: Command): void {
  retention
    .command('set')
    .addArgument(new Argument('<kind>', 'what is kept').choices(retentionKinds))
    .addArgument(
      new Argument('<period>', '90d, never, or with --bundle: general').argParser(parsePeriod),
    )
    .option('--bundle <identifier>', 'only records of this application', wholeBundle)
    .description('keep records for this long; nothing is dropped until intake retention apply')
    .addHelpText('after', guide)
    .action((kind: RetentionKind, period: Period, { bundle }: { bundle?: string }) =>
      withClickHouse((clickhouse) => set(clickhouse, { kind, bundle, period })),
    )

  retention
    .command('show')
    .description('show how long records are kept')
    .option('--json', 'print the days as JSON; null: never dropped')
    .action(({ json }: { json?: boolean }) =>
      withClickHouse(async (clickhouse) => {
        const { general, applications } = await readPeriods(clickhouse)
        if (json) {
          const entries = retentionKinds.map((kind) => [kind, general[kind] ?? null])
          const own = applications.map(({ bundleIdentifier, ...period }) => ({
            ...period,
            bundle_identifier: bundleIdentifier,
          }))
          return printJson({ ...Object.fromEntries(entries), applications: own })
        }
        printPeriods({ general, applications })
      }),
    )

  retention
    .command('apply')
    .description('drop what is older than its retention, permanently; run it daily')
    .option('--dry-run', 'only print what would be dropped')
    .option('--json', 'print the report as JSON')
    .action(({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) =>
      withServices(async (services) => {
        // Not of this machine: if its clock were ahead, records would be dropped too early.
        const [seconds] = await primaryOf(services.redis).time()
        const now = new Date(1_000 * Number(seconds))
        const { clickhouse } = services
        const report = dryRun
          ? await findExpired(clickhouse, await readExpiry(clickhouse, now))
          : await applyRetention(services, { now, progress: createProgress() })
        if (json) return printJson({ dryRun, ...report })
        print(dryRun ? 'To drop; nothing is dropped yet:' : 'Dropped:')
        printReport(report)
      }),
    )
}

function printReport(report: Expired & { objects?: number }): void {
  const { applications, deadLetters, objects = 0 } = report
  for (const kind of monthlyKinds) print(`${kind}\tmonths: ${report[kind].join(' ') || 'none'}`)
  for (const { kind, bundleIdentifier, month, rows } of applications) {
    printRow([kind, `${quantity(rows, 'row')} of ${month}`, bundleIdentifier])
  }
  print(`${quantity(objects, 'object')}, ${quantity(deadLetters, 'dead letter')}`)
}

/** A number of days, or for an application `general`. */
type Period = number | 'never' | 'general'

async function set(
  clickhouse: ClickHouse,
  choice: { kind: RetentionKind; bundle: string | undefined; period: Period },
): Promise<void> {
  const { kind, bundle, period } = choice
  const days = typeof period === 'number' ? period : undefined
  const { general } = await readPeriods(clickhouse)
  if (bundle === undefined) {
    if (period === 'general') throw new UsageError('general is for one application: add --bundle.')
  } else if (kind !== 'logs' && kind !== 'feedback')
    throw new UsageError('--bundle is for logs and feedback.')
  else if (period !== 'general' && (days ?? Infinity) >= (general[kind] ?? Infinity)) {
    throw new UsageError(
      `The period of an application must be shorter than the general one (${describe(general[kind])}). ` +
        'general removes it.',
    )
  }
  const detail = { ...(bundle !== undefined && { bundle }), after: days ?? null }
  await withRedis((redis) => noteChange(redis, { action: 'retention-set', subject: kind, detail }))
  await writePeriod(clickhouse, { kind, bundleIdentifier: bundle, days })
  printPeriods(await readPeriods(clickhouse))
}

function parsePeriod(text: string): Period {
  if (text === 'never' || text === 'general') return text
  const days = Number(/^(\d+)d$/.exec(text)?.[1])
  if (days >= 1 && days <= daysMax) return days
  throw new InvalidArgumentError(`Give a number of days (1d to ${daysMax}d), never or general.`)
}

const describe = (days: number | undefined) => (days === undefined ? 'never dropped' : `${days}d`)

function printPeriods({ general, applications }: Periods): void {
  for (const kind of retentionKinds) printRow([kind, describe(general[kind])])
  for (const one of applications) printRow([one.kind, describe(one.days), one.bundleIdentifier])
}
