import { IntakeError } from '@intake/contract'

export interface ByteBudget {
  /**
   * Holds `bytes` of the budget while `work` runs.
   *
   * @throws {IntakeError} `busy`, before `work` starts, when they are not there
   */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>
}

/** One budget per process for the request bodies that are held in memory. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let free = bytesMax
  return {
    async hold(bytes, work) {
      if (bytes > free) throw new IntakeError('busy', 'Too many bytes are in flight.')
      free -= bytes
      try {
        return await work()
      } finally {
        free += bytes
      }
    },
  }
}
