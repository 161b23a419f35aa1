import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouse, QueryParams, RecordTable } from '@intake/clickhouse'

/** Which records are followed. Texts must match exactly. */
export interface FollowFilter {
  bundle?: string | undefined
  event?: string | undefined
  /** UUID. */
  device?: string | undefined
  user?: string | undefined
  /** Id of an API key. */
  key?: string | undefined
}

/** The result of a poll. */
export interface Followed {
  /** The new records as lines of JSON, in the order of their arrival. */
  lines: string[]
  /**
   * Every record that arrived before this time is among the lines so far, in UTC as ClickHouse
   * prints it; undefined while no worker has stored a watermark.
   */
  completeUntil: string | undefined
  /** The seconds by which `completeUntil` lies behind. */
  behindSeconds: number
}

export interface FollowOptions {
  clickhouse: Pick<ClickHouse, 'query' | 'lines'>
  kind: RecordTable
  filter: FollowFilter
  /** Records that arrived before this time are left out, in UTC as ClickHouse prints it. */
  since: string
  /** The columns of a line. */
  columns: string
  signal: AbortSignal
}

const pauseMs = 1_000
/** The minimum pause after a poll, as a multiple of its duration. */
const pausePerPoll = 2
const pageRows = 20_000
/** Maximum number of records that are read with one statement. */
const recordsMax = 2_000
/** Up to this many records are read by their ids, which are part of the URL of the statement. */
const idsMax = 200
const identity = 'bundle_identifier, time, id, device_uuid'
const filterConditions: Record<keyof FollowFilter, string> = {
  bundle: 'bundle_identifier = {bundle:String}',
  event: 'event = {event:String}',
  device: 'device_uuid = {device:UUID}',
  user: 'unique_user_id = {user:String}',
  key: 'api_key_id = {key:String}',
}

interface Key {
  bundle_identifier: string
  time: string
  id: string
  device_uuid: string
  received_at: string
}

/**
 * Follows records as they become visible: each is returned once, and none is left out. A record may
 * become visible long after it has arrived, so each poll reads again from the watermark of the poll
 * before, because only earlier records are known to be complete. Ends when the signal is aborted.
 *
 * @throws {ClickHouseError} when a poll fails; a new call with `since` of the last complete moment
 * shows records again
 */
export async function* followRecords(options: FollowOptions): AsyncGenerator<Followed> {
  const { clickhouse, since, signal } = options
  /** The records that were shown, with their arrival, as long as a poll may find them again. */
  const shown = new Map<string, string>()
  let from = since
  while (!signal.aborted) {
    const began = performance.now()
    const { until, behind } = await readWatermark(clickhouse, options.kind)
    for await (const keys of readKeys(options, from)) {
      const unseen = keys.filter((key) => !shown.has(identityOf(key)))
      for (let at = 0; at < unseen.length; at += recordsMax) {
        const some = unseen.slice(at, at + recordsMax)
        const lines = await readRecords(options, some)
        for (const key of some) shown.set(identityOf(key), key.received_at)
        yield { lines, completeUntil: undefined, behindSeconds: 0 }
        if (signal.aborted) return
      }
    }
    // Every record before `until` was visible when `until` was read, which was before the keys were
    // read.
    if (until !== undefined && until > from) from = until
    for (const [key, receivedAt] of shown) if (receivedAt < from) shown.delete(key)
    yield { lines: [], completeUntil: until, behindSeconds: behind }
    const took = performance.now() - began
    await pause(Math.max(pauseMs, pausePerPoll * took), undefined, { signal }).catch(ignoreAbort)
  }
}

function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error
}

const identityOf = ({ bundle_identifier, id, device_uuid }: Key) =>
  `${id} ${device_uuid} ${bundle_identifier}`

async function readWatermark(
  clickhouse: FollowOptions['clickhouse'],
  kind: RecordTable,
): Promise<{ until: string | undefined; behind: number }> {
  const [row] = await clickhouse.query<{ until: string; behind: number }>(
    `SELECT visible_until AS until, dateDiff('second', visible_until, now64(3, 'UTC')) AS behind
     FROM intake.watermark WHERE kind = {kind:String}`,
    { kind },
  )
  return { until: row?.until, behind: row?.behind ?? 0 }
}

/**
 * The identities of the matching records that arrived since `from`, in the order of their arrival.
 */
async function* readKeys(options: FollowOptions, from: string): AsyncGenerator<Key[]> {
  const { clickhouse, kind, filter } = options
  const { conditions, params } = conditionsOf(filter)
  let after: Key | undefined
  for (;;) {
    const place =
      after === undefined
        ? ''
        : `AND (received_at, time, id, device_uuid, bundle_identifier) >
          ({after_received:DateTime64(3, 'UTC')}, {after_time:DateTime64(3, 'UTC')}, {after_id:UUID}, {after_device:UUID}, {after_bundle:String})`
    const keys: Key[] = await clickhouse.query<Key>(
      `SELECT ${identity}, received_at FROM intake.${kind}
       WHERE received_at >= {from:DateTime64(3, 'UTC')} ${place}
         ${conditions.map((condition) => `AND ${condition}`).join(' ')}
       ORDER BY received_at, time, id, device_uuid, bundle_identifier LIMIT ${pageRows}`,
      {
        ...params,
        from: after?.received_at ?? from,
        ...(after && {
          after_received: after.received_at,
          after_time: after.time,
          after_id: after.id,
          after_device: after.device_uuid,
          after_bundle: after.bundle_identifier,
        }),
      },
    )
    yield keys
    after = keys.at(-1)
    if (after === undefined || keys.length < pageRows) return
  }
}

/**
 * The columns of these records, in the order of their arrival; records that were erased meanwhile
 * are missing. Few records are read by their ids, many by their arrival.
 */
async function readRecords(options: FollowOptions, keys: readonly Key[]): Promise<string[]> {
  const { clickhouse, kind, columns, filter } = options
  const times = keys.map(({ time }) => time).toSorted()
  const isFew = keys.length <= idsMax
  const { conditions, params } = conditionsOf(filter)
  const own = isFew ? ['id IN {ids:Array(UUID)}'] : []
  const lines = await clickhouse.lines(
    `SELECT concat(toString(id), ' ', toString(device_uuid), ' ', bundle_identifier) AS key_of_line, ${columns}
     FROM intake.${kind}
     WHERE ${[
       "received_at >= {first_received:DateTime64(3, 'UTC')} AND received_at <= {last_received:DateTime64(3, 'UTC')}",
       "time >= {first:DateTime64(3, 'UTC')} AND time <= {last:DateTime64(3, 'UTC')}",
       ...own,
       ...conditions,
     ].join(' AND ')}
     ORDER BY received_at, time, id, device_uuid`,
    {
      ...params,
      first: times[0],
      last: times.at(-1),
      first_received: keys[0]?.received_at,
      last_received: keys.at(-1)?.received_at,
      ...(isFew && { ids: keys.map(({ id }) => id) }),
    },
  )
  const wanted = new Set(keys.map(identityOf))
  return lines.flatMap((line) => {
    const [, key = '""', rest = ''] = keyOfLine.exec(line) ?? []
    return wanted.has(JSON.parse(key) as string) ? [`{${rest}`] : []
  })
}

/** The identity at the beginning of each line, and the rest of the line. */
const keyOfLine = /^\{"key_of_line":("(?:[^"\\]|\\.)*"),(.*)$/s

function conditionsOf(filter: FollowFilter): { conditions: string[]; params: QueryParams } {
  const names = (Object.keys(filterConditions) as (keyof FollowFilter)[]).filter(
    (name) => filter[name] !== undefined,
  )
  return {
    conditions: names.map((name) => filterConditions[name]),
    params: Object.fromEntries(names.map((name) => [name, filter[name]])),
  }
}
