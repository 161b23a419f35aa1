import { plural } from '@intake/runtime'
import { readRetention, retentionKinds, writeRetention, type RetentionKind } from '@intake/records'
import { kinds } from '@intake/contract'
import { createPolicyStore } from '@intake/access'
import { Argument, InvalidArgumentError, type Command } from 'commander'
import { confirmChange } from '../confirm-change.ts'
import { applyRetention } from '../retention/apply-retention.ts'
import { expiryTimes, findExpired } from '../retention/find-expired.ts'
import { createProgress } from '../progress.ts'
import { withServices } from '../services.ts'
import { print, printJson } from '../print.ts'

const daysMax = 36_500

/** `intake retention set|show|apply`: manages how long records are kept. */
export function defineRetention(retention: Command): void {
  retention
    .command('set')
    .addArgument(new Argument('<kind>', 'what is kept').choices(retentionKinds))
    .addArgument(new Argument('<period>', '90d, or never').argParser(parsePeriod))
    .description('keep records for this long; nothing is dropped until intake retention apply')
    .addHelpText(
      'after',
      '\nRecords are dropped by whole months, once all of the month is older than the period; dead letters are\n' +
        'dropped one by one. Gateways refuse ids that are older, because their records may have been dropped.',
    )
    .action((kind: RetentionKind, period: Period) =>
      withServices(async ({ clickhouse, redis }) => {
        const recordKind = kinds.find((one) => one === kind)
        // ClickHouse first: its retention is the valid one, and `apply` corrects the policy by it.
        await confirmChange(redis, async () => {
          await writeRetention(clickhouse, kind, period.days)
          if (recordKind !== undefined) {
            await createPolicyStore({ redis }).setRetention(recordKind, period.days)
          }
        })
        print(describe(kind, period.days))
      }),
    )

  retention
    .command('show')
    .description('show how long records are kept')
    .option('--json', 'print the days as JSON; null: never dropped')
    .action((flags: { json?: boolean }) =>
      withServices(async ({ clickhouse }) => {
        const days = await readRetention(clickhouse)
        if (flags.json) {
          const entries = retentionKinds.map((kind) => [kind, days[kind] ?? null])
          return printJson(Object.fromEntries(entries))
        }
        for (const kind of retentionKinds) print(describe(kind, days[kind]))
      }),
    )

  retention
    .command('apply')
    .description('drop what is older than its retention, permanently; run it daily')
    .option('--dry-run', 'only print what would be dropped')
    .option('--json', 'print the report as JSON')
    .action(({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) =>
      withServices(async (services) => {
        const report = dryRun
          ? await findExpired(
              services,
              expiryTimes(await readRetention(services.clickhouse), new Date()),
            )
          : await applyRetention(services, { progress: createProgress().say })
        if (json) return printJson({ dryRun, ...report })
        for (const kind of kinds) {
          const months = report[kind].join(' ') || 'none'
          print(`${kind}\t${dryRun ? 'months to drop' : 'dropped months'}: ${months}`)
        }
        const { objects, deadLetters } = report
        const what = `${objects} ${plural(objects, 'object')}, ${deadLetters} ${plural(deadLetters, 'dead letter')}`
        print(dryRun ? `${what} to delete; nothing is dropped` : `${what} deleted`)
      }),
    )
}

interface Period {
  /** The number of days after which data is dropped; undefined if never. */
  days: number | undefined
}

function parsePeriod(text: string): Period {
  if (text === 'never') return { days: undefined }
  const days = Number(/^(\d+)d$/.exec(text)?.[1])
  if (days >= 1 && days <= daysMax) return { days }
  throw new InvalidArgumentError(`Give a number of days (1d to ${daysMax}d), or never.`)
}

function describe(kind: RetentionKind, days: number | undefined): string {
  return `${kind}\t${days === undefined ? 'never dropped' : `${days}d`}`
}
