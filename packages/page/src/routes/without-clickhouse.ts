import { ClickHouseError } from '@intake/clickhouse'
import { TimeoutError, withTimeout } from '@intake/runtime'

/** A view is shown without its data if ClickHouse takes longer. */
const timeoutMs = 4_000

/** Data from ClickHouse; undefined if it fails or does not respond. */
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
