import { metricsOf, type Registry } from '@intake/runtime/process'
import type { ObjectStore } from './object-store.ts'

const operations = ['put', 'get', 'remove'] as const
export type ObjectOperation = (typeof operations)[number]

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** Wraps a store so that metrics show how long its operations take and how many fail. */
export function measureObjectStore<Store extends Pick<ObjectStore, ObjectOperation>>(
  store: Store,
  options: { metrics: Registry; onFailed?: (operation: ObjectOperation) => void },
): Store {
  const { metrics, onFailed } = options
  const { counter, histogram } = metricsOf(metrics)
  const duration = histogram(
    'intake_object_store_duration_seconds',
    'Duration of an operation of the object store, with its retries.',
    ['operation'],
    seconds,
  )
  const errors = counter(
    'intake_object_store_errors_total',
    'Operations of the object store that failed.',
    ['operation'],
    operations.map((operation) => ({ operation })),
  )

  async function measure<Result>(
    operation: ObjectOperation,
    work: Promise<Result>,
  ): Promise<Result> {
    const end = duration.startTimer({ operation })
    try {
      return await work
    } catch (error) {
      errors.inc({ operation })
      onFailed?.(operation)
      throw error
    } finally {
      end()
    }
  }

  return {
    ...store,
    put: (object) => measure('put', store.put(object)),
    get: (key, limit) => measure('get', store.get(key, limit)),
    remove: (keys) => measure('remove', store.remove(keys)),
  }
}
