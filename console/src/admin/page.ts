import { createAddressOf, parseTrustProxy, type ConsoleConfig } from '@intake/config'
import { page, type PageOptions } from '../page/page.ts'

export function createPage(
  options: Pick<PageOptions, 'reader' | 'store' | 'state' | 'log' | 'onFailed'> & {
    config: ConsoleConfig
  },
): (app: Parameters<typeof page>[0]) => Promise<void> {
  const { config, ...others } = options
  return (app) =>
    page(app, {
      password: config.PAGE_PASSWORD,
      addressOf: createAddressOf(parseTrustProxy(config.TRUST_PROXY)),
      linkSecret: credentialsOf(config.REDIS_URL),
      keepsMetadata: config.KEEP_METADATA,
      ...others,
    })
}

/**
 * Returns `user:password` of a URL; undefined if the URL has no credentials. `new URL` is not used,
 * because it rejects a URL that lists several hosts.
 *
 * From the credentials of Redis, the page derives the key that signs its links to pictures. All
 * consoles have the same credentials, so each console accepts the links of the others.
 */
const credentialsOf = (url: string): string | undefined => {
  const [, credentials] = /^[^:]+:\/\/([^/?#]*:[^/?#]+)@/.exec(url) ?? []
  return credentials
}
