import type { WorkerConfig } from '@intake/config'
import { page, type PageOptions } from '@intake/page'

/** The page for the admin server. */
export function createPage(
  options: Pick<PageOptions, 'reader' | 'store' | 'state' | 'log' | 'onFailed'> & {
    config: WorkerConfig
  },
): (app: Parameters<typeof page>[0]) => Promise<void> {
  const { config, ...others } = options
  return (app) =>
    page(app, {
      password: config.PAGE_PASSWORD,
      linkSecret: credentialsOf(config.REDIS_URL),
      keepsMetadata: config.KEEP_METADATA,
      ...others,
    })
}

/**
 * The user and password in a URL, which may list several hosts. The page derives the key for
 * signing links to pictures from those of Redis, which are the same for all workers, so each worker
 * accepts the links of the others.
 */
const credentialsOf = (url: string): string | undefined => {
  const [, credentials] = /^[^:]+:\/\/([^/?#]*:[^/?#]+)@/.exec(url) ?? []
  return credentials
}
