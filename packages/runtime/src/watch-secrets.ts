import { readFile } from 'node:fs/promises'
import { Type, type Static, type TObject } from 'typebox'
import { withTimeout } from './deadline.ts'
import { problemsOf } from './config-error.ts'
import { loadConfig } from './config.ts'
import { limitRepeats } from './limit-repeats.ts'
import type { Logger } from './logger.ts'
import { startPolling } from './poll.ts'
import { secretFile, secretNames, traitsOf, withoutLineEnd } from './secret-files.ts'
import { createSecret, type Secret } from './secret.ts'
import { withoutCredentials } from './urls.ts'

/** The secrets that may change while the process runs. */
export interface Secrets<S extends TObject> {
  /**
   * The setting as a value that is updated when its file changes.
   *
   * @throws {Error} if the setting is unset, or its schema does not have `isFollowed`
   */
  follow(name: keyof Static<S> & string): Secret
  close(): void
}

const help = 'docs/operations/rotate-secrets.md'
const readTimeoutMs = 5_000

/**
 * Polls files and compares their content, however they are replaced. A new value is used when it
 * was read twice in a row, because a file may be read while it is written. One that is invalid, or
 * a URL with another address, is reported and not used.
 *
 * @param options.config as read from `env`
 */
export function watchSecrets<S extends TObject>(options: {
  schema: S
  env: Record<string, string | undefined>
  config: Static<S>
  log: Logger
  intervalMs?: number
}): Secrets<S> {
  const { schema, env, log, intervalMs = 2_000 } = options
  const config = options.config as Record<string, unknown>
  const followed = new Map<string, ReturnType<typeof createSecret>>()
  const watches = secretNames(schema).flatMap((name) => {
    const file = secretFile(env, name)
    return file === undefined ? [] : [watchFile(name, file, String(config[name]))]
  })

  function watchFile(name: string, file: string, initial: string) {
    /** The value that was last used or reported. */
    let known = initial
    let read = initial
    const onError = limitRepeats((err, omitted) =>
      log.warn({ err, omitted, setting: name, help }, 'the file of a secret cannot be read'),
    )
    const poll = async () => {
      const value = withoutLineEnd(
        await withTimeout(readFile(file, 'utf8'), readTimeoutMs, 'reading a secret'),
      )
      const isStable = value === read
      read = value
      if (!isStable || value === known) return
      known = value
      adopt(name, value)
    }
    return startPolling({ poll, intervalMs, onError })
  }

  function adopt(name: string, value: string): void {
    const secret = followed.get(name)
    const refusal = whyNot(schema, name, { value, secret })
    if (refusal !== undefined || secret === undefined) {
      log.warn({ setting: name, help }, `the file of a secret has changed: ${refusal}`)
      return
    }
    try {
      secret.set(value)
    } catch (err) {
      log.error(
        { err, setting: name, help },
        'the new value of a secret cannot be used: restart this process',
      )
      return
    }
    log.info({ setting: name }, 'the file of a secret has changed: the new value is used')
  }

  return {
    follow(name) {
      const value = config[name]
      if (!traitsOf(schema, name).isFollowed) throw new Error(`${name} is not marked as followed`)
      if (typeof value !== 'string') throw new Error(`${name} is not set`)
      const secret = followed.get(name) ?? createSecret(value)
      followed.set(name, secret)
      return secret
    },
    close() {
      for (const watch of watches) watch.close()
    },
  }
}

/** Why the new value of a secret is not used; undefined if it can be used. */
function whyNot(
  schema: TObject,
  name: string,
  { value, secret }: { value: string; secret: Secret | undefined },
): string | undefined {
  if (secret === undefined) return 'a change of this secret needs a restart'
  if (value === '') return 'it is empty, and not used'
  const one = Type.Object({ [name]: schema.properties[name]! })
  const problems = problemsOf(() => loadConfig(one, { [name]: value }))
  const { hasCredentials } = traitsOf(schema, name)
  if (problems.length > 0) return `the new value is not used, ${problems.join('; ')}`
  const isMoved =
    hasCredentials && withoutCredentials(value) !== withoutCredentials(secret.current())
  return isMoved ? 'the new value is not used, another address needs a restart' : undefined
}
