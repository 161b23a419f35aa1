import { objectStoreSettings, type WorkerConfig } from '@intake/config'
import { createObjectStore, measureObjectStore } from '@intake/object-store'
import { page, type PageOptions } from '@intake/page'
import type { Registry, Secrets } from '@intake/runtime'

const storeTimeoutMs = 20_000

/** The page for the admin server, with a connection of its own to the object store. */
export function createPage(
  options: Pick<PageOptions, 'reader' | 'state' | 'log' | 'onFailed'> & {
    config: WorkerConfig
    secrets: Secrets<typeof WorkerConfig>
    metrics: Registry
  },
): { register(app: Parameters<typeof page>[0]): Promise<void>; close(): void } {
  const { config, secrets, metrics, ...others } = options
  const { S3_ENDPOINT: endpoint } = config
  const store =
    endpoint === undefined
      ? undefined
      : createObjectStore({
          ...objectStoreSettings({ ...config, S3_ENDPOINT: endpoint }),
          endpoint: secrets.follow('S3_ENDPOINT'),
          timeoutMs: storeTimeoutMs,
        })
  const measured = store && measureObjectStore(store, { metrics })
  return {
    register: (app) =>
      page(app, {
        password: config.PAGE_PASSWORD,
        linkSecret: credentialsOf(config.REDIS_URL),
        store: measured,
        keepsMetadata: config.KEEP_METADATA,
        ...others,
      }),
    close: () => store?.close(),
  }
}

/**
 * The part `user:password` of a URL, which may list several hosts; undefined if it has none. The
 * page derives the key that signs links to pictures from the credentials of Redis. These are the
 * same for all workers, so each worker accepts the links of the others.
 */
const credentialsOf = (url: string): string | undefined => {
  const [, credentials] = /^[^:]+:\/\/([^/?#]*:[^/?#]+)@/.exec(url) ?? []
  return credentials
}
