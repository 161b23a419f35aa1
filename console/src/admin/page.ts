import { createAddressOf, parseTrustProxy, type ConsoleConfig } from '@intake/config'
import { credentialsOf, parseRedisUrl } from '@intake/redis'
import { page, type PageOptions } from '../page/page.ts'

export function createPage(
  options: Pick<PageOptions, 'reader' | 'store' | 'state' | 'log' | 'onFailed'> & {
    config: ConsoleConfig
  },
): (app: Parameters<typeof page>[0]) => Promise<void> {
  const { config, ...others } = options
  const { username = '', password: secret } = credentialsOf(parseRedisUrl(config.REDIS_URL))
  return (app) =>
    page(app, {
      password: config.PAGE_PASSWORD,
      addressOf: createAddressOf(parseTrustProxy(config.TRUST_PROXY)),
      // All consoles have the same credentials of Redis, so each accepts the links of the others.
      linkSecret: secret && `${username}:${secret}`,
      keepsMetadata: config.KEEP_METADATA,
      ...others,
    })
}
