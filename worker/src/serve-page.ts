import { createObjectStore } from '@intake/object-store'
import { page, type PageOptions } from '@intake/page'
import type { WorkerConfig } from './config.ts'

const storeTimeoutMs = 20_000

/** The page with its own connection to the object store, for the admin server. */
export function createPage(
  options: Pick<PageOptions, 'reader' | 'backlog' | 'log'> & { config: WorkerConfig },
): { register(app: Parameters<typeof page>[0]): Promise<void>; close(): void } {
  const { config, reader, backlog, log } = options
  const store =
    config.S3_ENDPOINT === undefined
      ? undefined
      : createObjectStore({
          endpoint: config.S3_ENDPOINT,
          bucket: config.S3_BUCKET,
          region: config.S3_REGION,
          timeoutMs: storeTimeoutMs,
        })
  return {
    register: (app) => page(app, { password: config.PAGE_PASSWORD, reader, store, backlog, log }),
    close: () => store?.close(),
  }
}
