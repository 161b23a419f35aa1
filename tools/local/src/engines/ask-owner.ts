import { tryFetch } from '../supervisor/try-fetch.ts'

/** How the owner, which is the user `intake`, connects to a ClickHouse on loopback. */
export interface Owner {
  port: number
  password: string
}

/** Resolves to the text of the response; undefined if there is none in time, or an error. */
export async function askOwner(sql: string, owner: Owner, timeoutMs: number) {
  const reply = await tryFetch(`http://127.0.0.1:${owner.port}/`, timeoutMs, {
    method: 'POST',
    body: sql,
    headers: { 'x-clickhouse-user': 'intake', 'x-clickhouse-key': owner.password },
  })
  return reply?.isOk ? reply.text : undefined
}
