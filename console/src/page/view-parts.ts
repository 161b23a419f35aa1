import { ClickHouseError } from '@intake/clickhouse'

export interface ViewParts {
  /** Resolves to what was read, or to `otherwise` if ClickHouse fails or does not respond. */
  orElse<Data>(reading: Promise<Data>, otherwise: Data): Promise<Data>
  /**
   * Whether a part could not be read.
   *
   * @throws {ClickHouseError} if none could be read: then the view has nothing to show
   */
  isPartial(): boolean
}

/** Creates the parts of one view. What their reading costs depends on what clients send. */
export function createViewParts(): ViewParts {
  let read = 0
  let failure: ClickHouseError | undefined
  return {
    async orElse(reading, otherwise) {
      try {
        const data = await reading
        read += 1
        return data
      } catch (error) {
        if (!(error instanceof ClickHouseError)) throw error
        failure ??= error
        return otherwise
      }
    },
    isPartial() {
      if (failure !== undefined && read === 0) throw failure
      return failure !== undefined
    },
  }
}
