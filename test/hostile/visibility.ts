import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'

interface Sql {
  query<Row>(sql: string, params?: Record<string, unknown>): Promise<Row[]>
}

const sendEveryMs = 1_000
const readEveryMs = 250

/**
 * Sends one event a second with the innocent sender's key, and polls which of these events are
 * visible.
 *
 * @returns a function that stops sending, and resolves when every acknowledged event is visible, to
 * how many milliseconds the slowest one took
 */
export function watchVisibility(options: {
  url: string
  apiKey: string
  sql: Sql
}): () => Promise<number> {
  const { url, apiKey, sql } = options
  const unique_user_id = randomUUID()
  const waiting = new Map<string, number>()
  const stopped = new AbortController()
  let slowestMs = 0

  async function send(): Promise<void> {
    const event = randomUUID()
    const record = { bundle_identifier: 'com.example.visibility', unique_user_id }
    const response = await postLog({ url, apiKey }, { event }, { record })
    if (response.status !== 201) throw new Error(`an event was refused: ${response.status}`)
    waiting.set(event, performance.now())
  }

  async function readVisible(): Promise<void> {
    if (waiting.size === 0) return
    const rows = await sql.query<{ event: string }>(
      `SELECT event FROM intake.logs
       WHERE bundle_identifier = 'com.example.visibility' AND unique_user_id = {user:String}
         AND has({events:Array(String)}, event)`,
      { user: unique_user_id, events: [...waiting.keys()] },
    )
    for (const { event } of rows) {
      const since = waiting.get(event)
      if (since === undefined || !waiting.delete(event)) continue
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - since))
    }
  }

  async function every(ms: number, work: () => Promise<void>): Promise<void> {
    while (!stopped.signal.aborted) {
      await work()
      await pause(ms, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }
  const work = Promise.all([every(sendEveryMs, send), every(readEveryMs, readVisible)])
  // Prevents an unhandled rejection. The function that is returned below reports the error.
  work.catch(() => stopped.abort())

  return async () => {
    stopped.abort()
    await work
    await until('every event is visible', async () => {
      await readVisible()
      return waiting.size === 0
    })
    return slowestMs
  }
}
