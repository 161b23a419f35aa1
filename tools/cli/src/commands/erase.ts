import { plural, quantity, tryJson } from '@intake/runtime'
import {
  countStored,
  erase,
  listErasures,
  waitingFrames,
  type ErasureReport,
  type Services,
  type Subject,
} from '@intake/records'
import { createApiKeyStore, createPolicyStore } from '@intake/access'
import { type Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { suppress } from '../erasure/suppress.ts'
import { operator } from '../journal.ts'
import { decimal, numberOption, timeOption } from '../option-values.ts'
import { createProgress } from '../progress.ts'
import { withServices } from '../services.ts'
import { allOfKey, noteSubject, personalSubject, type KeySubject } from '../subjects.ts'
import { note, print, printJson } from '../print.ts'
import { changeRedis } from '../with-redis.ts'

interface EraseFlags {
  yes?: boolean
  json?: boolean
  suppress?: boolean
  /** How long to wait for the end of the erasure, in minutes. */
  wait: number
}

interface PurgeFlags extends EraseFlags {
  apiKey: string
  from: Date
  to: Date
}

/** The exit code of a run that had no errors, but could not erase everything yet. */
const incompleteExitCode = 2
/** The exit code of a run that only counted. It lets a script notice a missing `--yes`. */
const previewExitCode = 3

const effect = `
Erases from disk: rows in all versions, attachments, dead letters, and records that wait in Redis. It erases
everything acknowledged before the command starts, which does not reappear when it is sent or delivered again.
If it is interrupted or runs out of time (exit code 2), run it again. Without --yes it only counts (exit code 3).
docs/erasure.md has the details.`

export function addEraseCommand(parent: Command, kind: 'user' | 'device', id: string): void {
  eraseOptions(parent.command(`erase <${id}>`))
    .description('erase everything that is stored about this ' + kind)
    .option('--bundle <identifier>', 'only in this application')
    .option('--suppress', 'from now on acknowledge what they send, and store nothing of it')
    .addHelpText('after', effect)
    .action((value: string, flags: EraseFlags & { bundle?: string }) =>
      run(personalSubject(kind, value, flags), flags),
    )
}

export function addUnsuppressCommand(parent: Command, kind: 'user' | 'device', id: string): void {
  parent
    .command(`unsuppress <${id}>`)
    .description(`store again what this ${kind} sends, after erase --suppress`)
    .option('--bundle <identifier>', 'the same as for erase --suppress')
    .action(async (value: string, flags: { bundle?: string }) => {
      const sender = personalSubject(kind, value, flags)
      const wasSuppressed = await changeRedis((redis) =>
        createPolicyStore({ redis, who: operator() }).unsuppress(sender),
      )
      if (!wasSuppressed) throw new UsageError(`This ${kind} is not suppressed.`)
      print('Gateways store its records again within seconds.')
    })
}

export const define = (command: Command, name: 'purge' | 'erasures'): void =>
  name === 'purge' ? definePurge(command) : defineErasures(command)

function definePurge(purge: Command): void {
  eraseOptions(purge)
    .requiredOption('--api-key <id>', 'the id of the key, from intake keys list')
    .requiredOption(
      '--from <time>',
      'ISO 8601, UTC unless it has an offset; accepted at or after this time',
      timeOption,
    )
    .requiredOption('--to <time>', 'in the same form; accepted before this time', timeOption)
    .addHelpText('after', effect)
    .action(({ apiKey: id, from, to, ...flags }: PurgeFlags) => {
      if (from >= to) throw new UsageError('--from must be before --to.')
      note(`From ${from.toISOString()} to ${to.toISOString()}.`)
      return run({ kind: 'api-key', id, from, to }, flags)
    })
}

function defineErasures(erasures: Command): void {
  erasures
    .command('list')
    .description('list the erasures with their reports, one JSON object per line, oldest first')
    .option('--json', 'print them as one JSON list')
    .action(({ json }: { json?: boolean }) =>
      withClickHouse(async (clickhouse) => {
        const list = (await listErasures(clickhouse)).map(({ report, ...entry }) => ({
          ...entry,
          // A damaged report is printed as text, so that the others are still printed.
          report: tryJson(report) ?? report,
        }))
        if (json) printJson(list)
        else if (list.length === 0) note('There are no erasures.')
        else for (const one of list) printJson(one)
      }),
    )
  const apply = erasures
    .command('apply')
    .description(
      'delete the payloads of erased records that have been sent again since; run it daily',
    )
  waitOption(apply)
    .option('--json', 'print the report as JSON')
    .action((flags: EraseFlags) => run(undefined, { ...flags, yes: true }))
}

function eraseOptions(command: Command): Command {
  return waitOption(command)
    .option('--yes', 'erase; without it the command only counts')
    .option('--json', 'print the report, or the counts, as JSON')
}

function waitOption(command: Command): Command {
  const parse = numberOption({ min: 1e-6, pattern: decimal, message: 'Give a number of minutes.' })
  return command.option(
    '--wait <minutes>',
    'how long to wait for workers and ClickHouse',
    parse,
    60,
  )
}

async function run(subject: Subject | undefined, flags: EraseFlags): Promise<void> {
  await withServices(async (services) => {
    if (subject?.kind === 'api-key') await requireKnownKey(services, subject)
    if (!flags.yes && subject !== undefined) {
      const found = await preview(services, subject)
      if (flags.json) printJson(found)
      else print(describePreview(found))
      process.exitCode = previewExitCode
      return
    }
    const progress = createProgress()
    const unconfirmed =
      flags.suppress && subject !== undefined && subject.kind !== 'api-key'
        ? await suppress(services, subject, progress)
        : undefined
    const subjectKey = await noteSubject(services.redis, 'erasure-begun', subject)
    const report = await erase({
      services,
      subject,
      subjectKey,
      deadline: performance.now() + flags.wait * 60_000,
      progress,
    })
    if (flags.json) printJson(report)
    else print(describe(report))
    if (!report.complete) process.exitCode = incompleteExitCode
    if (unconfirmed !== undefined) throw unconfirmed
  })
}

/** Refuses a mistyped id. A key that Redis has lost is accepted if something was sent with it. */
async function requireKnownKey(services: Services, subject: KeySubject): Promise<void> {
  const { keys, unreadable } = await createApiKeyStore({ redis: services.redis }).load()
  const known = [...Array.from(keys.values(), ({ id }) => id), ...unreadable.values()]
  if (known.includes(subject.id)) return
  const { rows, deadLetters, frames } = await preview(services, allOfKey(subject.id))
  if (rows + deadLetters + frames > 0) return
  throw new UsageError(
    `No API key has the id ${subject.id}, and nothing was sent with it. intake keys list shows the ids.`,
  )
}

interface Preview {
  preview: true
  rows: number
  deadLetters: number
  /** Frames in Redis that contain rows of the subject, or that cannot be read. */
  frames: number
}

async function preview({ clickhouse, redis }: Services, subject: Subject): Promise<Preview> {
  const { records, deadLetters } = await countStored(clickhouse, subject)
  let frames = 0
  for await (const _ of waitingFrames(redis, subject)) frames++
  return { preview: true, rows: records, deadLetters, frames }
}

function describePreview({ rows, deadLetters, frames }: Preview): string {
  return [
    `${quantity(rows, 'row')} and ${quantity(deadLetters, 'dead letter')} are stored, ${quantity(frames, 'frame')} in Redis ` +
      `${plural(frames, 'has', 'have')} more.`,
    'Nothing is erased. Add --yes to erase them permanently.',
  ].join('\n')
}

const notCovered =
  'Not covered, among others: messages that the webhook has sent. docs/erasure.md lists them.'

function describe(report: ErasureReport): string {
  const { tombstones, rowsDeleted, objectsDeleted, remaining, complete } = report
  const period = report.from === undefined ? '' : `, accepted from ${report.from} to ${report.to}`
  const lines = [
    `erasure ${report.id} of ${report.startedAt}${period}`,
    `${quantity(tombstones.logs, 'log')}, ${tombstones.feedback} feedback, ${quantity(tombstones.deadLetters, 'dead letter')}`,
    `${quantity(rowsDeleted, 'row')} and ${quantity(objectsDeleted, 'object')} deleted`,
  ]
  if (complete) return [...lines, 'complete: nothing is left', notCovered].join('\n')
  const { frames, unreadableFrames, rows, parts, counts } = remaining
  return [
    ...lines,
    `INCOMPLETE: ${quantity(frames, 'frame')} in Redis (${unreadableFrames} unreadable), ${quantity(rows, 'row')}, ` +
      `${quantity(parts, 'part')} and ${quantity(counts, 'count')} are left.`,
    'Run the same command again when workers store what waits (intake status).',
  ].join('\n')
}
