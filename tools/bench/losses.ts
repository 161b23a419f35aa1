import { setTimeout as pause } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import type { Bench } from './bench.ts'
import { createCorpus, defaultBodySize } from './corpus.ts'
import { untilCount } from './until-rows.ts'
import type { Variant } from './variants.ts'

export interface Losses {
  acknowledged: number
  kills: number
  /** Acknowledged events without a row. */
  lost: number
  /** Visible rows beyond the first of an event. */
  doubled: number
}

const rounds = 6
const connections = 8
const eventsPerBatch = 20
const pauseBetweenKillsMs = 1_000
const requestMs = 30_000
const retryMs = 100

export const sentWhileKilling = `Batches of ${eventsPerBatch} over ${connections} connections; each is repeated until it is acknowledged. Meanwhile SIGKILL ends,
${rounds} times in turn, the gateway, the worker (if there is one) and ClickHouse. Events have the client's ids, which only
Intake uses.`

/** Sends events and repeats failed requests while the variant's processes and ClickHouse are killed. */
export async function countLosses(bench: Bench, variant: Variant): Promise<Losses> {
  const { services, owner } = bench
  const table = `${variant.database}.logs_raw`
  const over = new AbortController()
  const sending = Promise.all(
    Array.from({ length: connections }, (_, connection) =>
      sendUntil(over.signal, bench, variant, connection),
    ),
  )
  let kills = 0
  const killing = async () => {
    for (let round = 0; round < rounds; round++) {
      for (const process of [...variant.gateways, ...variant.workers]) {
        await pause(pauseBetweenKillsMs, undefined, { signal: owner.signal })
        await process.crash()
        kills++
      }
      await pause(pauseBetweenKillsMs, undefined, { signal: owner.signal })
      await services.stopClickHouse()
      await services.startClickHouse()
      kills++
    }
  }
  await killing().finally(() => over.abort())
  const acknowledged = (await sending).reduce((sum, count) => sum + count, 0)
  const read = async () => {
    const [counts] = await services.sql.query<{ events: number; rows: number }>(
      `SELECT uniqExact(params.n) AS events, count() AS rows FROM ${table} FINAL`,
    )
    return counts as { events: number; rows: number }
  }
  const events = await untilCount(owner, async () => (await read()).events, acknowledged)
  const { rows } = await read()
  await services.sql.command(`TRUNCATE TABLE ${table}`)
  return { acknowledged, kills, lost: acknowledged - events, doubled: rows - events }
}

/** Sends batches until the signal, and the last one until it is acknowledged; returns the events. */
async function sendUntil(
  signal: AbortSignal,
  { services, owner }: Bench,
  { ports }: Variant,
  connection: number,
): Promise<number> {
  const [{ log, ...context }] = createCorpus({ size: defaultBodySize, seed: connection }) as [
    ReturnType<typeof createCorpus>[number],
  ]
  let sent = 0
  while (!signal.aborted) {
    const logs = Array.from({ length: eventsPerBatch }, () => {
      const params = { ...log.params, n: `${connection}-${sent++}` }
      return { ...log, id: uuidv7(), params }
    })
    const body = JSON.stringify({ ...context, logs })
    while (!(await isAcknowledged(`http://127.0.0.1:${ports[0]}`, services.apiKey, body))) {
      await pause(retryMs, undefined, { signal: owner.signal })
    }
  }
  return sent
}

async function isAcknowledged(origin: string, apiKey: string, body: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/api/log/batch`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': apiKey,
        // Benthos would compress the response, but its config sets the length of the plain one.
        'accept-encoding': 'identity',
      },
      body,
      signal: AbortSignal.timeout(requestMs),
    })
    const { rejected = 0 } = (await response.json()) as { rejected?: number }
    return response.ok && rejected === 0
  } catch {
    return false // the gateway was killed, or it is not listening again yet
  }
}
