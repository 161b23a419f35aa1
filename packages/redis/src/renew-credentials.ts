import type { Redis } from 'ioredis'
import { withTimeout, type Secret } from '@intake/runtime'

const timeoutMs = 10_000

/**
 * Makes a connection, and those that BullMQ duplicates from it, follow a URL whose user and password change.
 * An open connection authenticates again between two commands, so none fails. When Redis refuses the new
 * ones, it keeps its old user, and the next connection tries again.
 *
 * @param options.onError called when Redis refuses them, or does not respond
 */
export function renewCredentials(
  redis: Redis,
  options: { url: Secret; onError: (error: Error) => void },
): Redis {
  const { url, onError } = options
  const stop = url.onChange(() => {
    const { username, password } = credentialsOf(url.current())
    // The next connection of this client uses them.
    redis.options.username = username
    redis.options.password = password
    if (redis.status !== 'ready' || password === undefined) return
    const renewal = username ? redis.auth(username, password) : redis.auth(password)
    withTimeout(renewal, timeoutMs, 'AUTH').catch(onError)
  })
  redis.once('end', stop)
  const duplicate = redis.duplicate.bind(redis)
  redis.duplicate = (override) => renewCredentials(duplicate(override), options)
  return redis
}

/** Also of URLs with several hosts, which are none for `URL`. */
function credentialsOf(url: string): { username?: string; password?: string } {
  const [, username, password] = /^[^/]*\/\/([^:@/]*):([^@/]*)@/.exec(url) ?? []
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  }
}
