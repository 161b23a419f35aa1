import { ClickHouseError } from '@intake/clickhouse'
import { TimeoutError, withTimeout } from '@intake/runtime'
import type { Header } from './worker-state.ts'

/** A view is shown without its data if ClickHouse takes longer than this. */
const timeoutMs = 4_000
/** The same while ClickHouse is known to be away. */
export const awayTimeoutMs = 1_000
export const isAway = ({ problems }: Pick<Header, 'problems'>): boolean =>
  problems.some(({ code }) => code === 'insert_retry')

/** Undefined if ClickHouse reports an error or does not respond in time. */
export async function unlessClickHouseFails<Data>(
  reading: Promise<Data>,
  limitMs = timeoutMs,
): Promise<Data | undefined> {
  try {
    return await withTimeout(reading, limitMs, 'reading ClickHouse')
  } catch (error) {
    if (error instanceof ClickHouseError || error instanceof TimeoutError) return undefined
    throw error
  }
}

/**
 * Undefined while the reader has no right to read it, as after an upgrade of a server whose users
 * were made by hand.
 */
export const ifPermitted = <Data>(reading: Promise<Data>): Promise<Data | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof ClickHouseError && error.kind === 'operator') return undefined
    throw error
  })

/** Whether the user may not read the views, or the credentials are wrong. */
export const isRefused = ({ code }: ClickHouseError): boolean => code === 497 || code === 516

export type ViewParts = ReturnType<typeof createViewParts>

export function createViewParts() {
  let read = 0
  let failure: ClickHouseError | undefined
  return {
    /** Resolves to `otherwise` if ClickHouse fails, but does not refuse. What resolves to undefined has read nothing. */
    async orElse<Data>(reading: Promise<Data>, otherwise: Data): Promise<Data> {
      try {
        const data = await reading
        if (data !== undefined) read += 1
        return data
      } catch (error) {
        if (!(error instanceof ClickHouseError) || isRefused(error)) throw error
        failure ??= error
        return otherwise
      }
    },
    /** @throws {ClickHouseError} if no part could be read: then the view has nothing to show */
    isPartial(): boolean {
      if (failure !== undefined && read === 0) throw failure
      return failure !== undefined
    },
  }
}
