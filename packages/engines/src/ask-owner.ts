/** Where the owner of a ClickHouse on loopback asks. */
export interface Owner {
  port: number
  /** Of the user `intake`. */
  password: string
}

/** The text of the response; undefined when there is none in time, or an error. */
export async function askOwner(sql: string, owner: Owner, timeoutMs: number) {
  const { port, password } = owner
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: sql,
      headers: { 'x-clickhouse-user': 'intake', 'x-clickhouse-key': password, connection: 'close' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    return response.ok ? text : undefined
  } catch {
    return undefined // not listening, or too busy
  }
}
