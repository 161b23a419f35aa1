import { once } from 'node:events'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { isUuid } from '@intake/contract'
import { followRecords, type FollowFilter } from '@intake/records'
import { pause } from '@intake/runtime'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { note, outputEnds, printJsonLine, printStyled } from '../print.ts'

interface TailFlags extends FollowFilter {
  feedback?: boolean
  json?: boolean
}

const timeoutMs = 30_000
const retryMs = 2_000
/** Usually a record is visible within a minute, and a feedback may take half of one to arrive. */
const behindSecondsMax = 75

const head =
  'id, time, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id, device.version_name AS version'
const columns = {
  logs: `${head}, event, params`,
  feedback: `${head}, email, text, attachment_count AS attachments`,
} as const
/** The columns for a terminal. Texts are cut, because they can be long. */
const shortColumns = {
  logs: `time, received_at, bundle_identifier, device_uuid, device.version_name AS version, event AS what,
    substringUTF8(toJSONString(params), 1, 300) AS rest`,
  feedback: `time, received_at, bundle_identifier, device_uuid, device.version_name AS version,
    substringUTF8(text, 1, 300) AS what, if(attachment_count = 0, '', concat(toString(attachment_count), ' pictures')) AS rest`,
} as const

interface ShortRow {
  time: string
  received_at: string
  bundle_identifier: string
  device_uuid: string
  version: string | null
  what: string
  rest: string
}

export function define(tail: Command): void {
  tail
    .option('--bundle <identifier>', 'only this application')
    .option('--event <name>', 'only this event')
    .option('--device <uuid>', 'only this device')
    .option('--user <id>', 'only this user')
    .option('--key <id>', 'only what this API key sent')
    .option('--feedback', 'follow feedback instead of events')
    .option(
      '--json',
      'print a line of JSON for each record; the default if the output is no terminal',
    )
    .addHelpText(
      'after',
      '\nShows each record once, in the order of arrival, also one of up to 33 days ago. A record appears when a\n' +
        'worker has stored it. Standard error says up to which time the output is complete. Ctrl-C ends the command.',
    )
    .action(async ({ feedback, json, ...filter }: TailFlags) => {
      if (filter.device !== undefined && !isUuid(filter.device))
        throw new UsageError('A device is named by its UUID.')
      if (feedback && filter.event !== undefined)
        throw new UsageError('Feedback has no events: give --event or --feedback.')
      const wanted = {
        kind: feedback ? ('feedback' as const) : ('logs' as const),
        filter,
        isJson: json ?? !process.stdout.isTTY,
      }
      await withClickHouse((clickhouse) => follow(clickhouse, wanted), {
        requestTimeoutMs: timeoutMs,
        connectionsMax: 2,
      })
    })
}

async function follow(
  clickhouse: ClickHouse,
  { kind, filter, isJson }: { kind: 'logs' | 'feedback'; filter: FollowFilter; isJson: boolean },
): Promise<void> {
  const ending = new AbortController()
  const end = () => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  // Ends the command when the process that reads the output has ended.
  process.stdout.once('close', end).once('error', end)
  const { signal } = ending
  const patientClickHouse = patient(clickhouse, signal)
  let completeUntil: string | undefined
  let wasBehind = false
  try {
    const since = await Promise.race([
      readClock(patientClickHouse),
      once(signal, 'abort').then(() => undefined),
    ])
    if (since === undefined) return note('ended')
    const follower = followRecords({
      clickhouse: patientClickHouse,
      kind,
      filter,
      since,
      columns: (isJson ? columns : shortColumns)[kind],
      signal,
    })
    note(`following ${kind === 'logs' ? 'events' : 'feedback'} from ${since} UTC on`)
    for await (const found of follower) {
      for (const line of found.lines) {
        if (isJson) await printJsonLine(line, signal)
        else printShort(JSON.parse(line) as ShortRow)
        if (signal.aborted) break
      }
      if (found.lines.length > 0) continue
      completeUntil = found.completeUntil ?? completeUntil
      const isBehind = found.behindSeconds > behindSecondsMax
      if (isBehind) note(`complete up to ${completeUntil} UTC, ${found.behindSeconds} s behind`)
      else if (wasBehind) note(`complete up to ${completeUntil} UTC`)
      wasBehind = isBehind
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (!(await outputEnds())) {
    note('ended; the last lines were not read')
    // Ends now. Otherwise, Node would wait until somebody reads the last lines.
    process.exit()
  }
  note(completeUntil === undefined ? 'ended' : `ended; complete up to ${completeUntil} UTC`)
}

async function readClock(clickhouse: Pick<ClickHouse, 'query'>): Promise<string> {
  const [clock] = await clickhouse.query<{ now: string }>("SELECT now64(3, 'UTC') AS now")
  return clock?.now ?? ''
}

/** Repeats reads while ClickHouse does not respond, for example because it restarts. */
function patient(clickhouse: ClickHouse, signal: AbortSignal): Pick<ClickHouse, 'query' | 'lines'> {
  async function repeat<Result>(read: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        // A timeout is worth another try. Its error has no code, and its kind is `split`, because
        // an insert that times out is repeated in smaller parts.
        const mayPass =
          error instanceof ClickHouseError &&
          (error.kind === 'retry' || (error.code === undefined && !error.isTooLarge))
        if (!mayPass || signal.aborted) throw error
        note(`ClickHouse does not respond, next try in ${retryMs / 1_000} s`)
        await pause(retryMs, { signal }).catch(() => undefined)
      }
    }
  }
  return {
    query: (...query) => repeat(() => clickhouse.query(...query)),
    lines: (...query) => repeat(() => clickhouse.lines(...query)),
  }
}

/** If a record arrived more than this long after its `time`, its `time` is printed too. */
const lateMs = 5 * 60_000

function printShort(row: ShortRow): void {
  const delayMs = Date.parse(`${row.received_at}Z`) - Date.parse(`${row.time}Z`)
  printStyled([
    { text: row.received_at.slice(11), style: 'dim' },
    { text: row.bundle_identifier + (row.version ? ` ${row.version}` : ''), style: 'cyan' },
    { text: row.what, style: 'bold' },
    { text: row.rest },
    ...(delayMs > lateMs ? [{ text: `(happened ${row.time} UTC)`, style: 'yellow' as const }] : []),
    { text: row.device_uuid, style: 'dim' },
  ])
}
