/** How the owner, which is the user `intake`, connects to a ClickHouse on loopback. */
export interface Owner {
  port: number
  password: string
}

/**
 * Executes a statement as the owner. Resolves to the text of the response. Resolves to undefined if
 * the response is an error, or if there is no response in time.
 */
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
