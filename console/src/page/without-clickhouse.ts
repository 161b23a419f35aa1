import { ClickHouseError } from '@intake/clickhouse'
import { TimeoutError, withTimeout } from '@intake/runtime'

/** A view is shown without its data if ClickHouse takes longer than this. */
const timeoutMs = 4_000

/**
 * Resolves to the data, or to undefined if ClickHouse reports an error or does not respond in time.
 */
export async function unlessClickHouseFails<Data>(
  reading: Promise<Data>,
): Promise<Data | undefined> {
  try {
    return await withTimeout(reading, timeoutMs, 'reading ClickHouse')
  } catch (error) {
    if (error instanceof ClickHouseError || error instanceof TimeoutError) return undefined
    throw error
  }
}
