import { randomBytes, type KeyObject } from 'node:crypto'
import { readInstallation, type Redis } from '@intake/redis'
import { deriveSubjectKey, suppressedKey } from './suppression.ts'

/** The rules as JSON by id, and the installation's secret, which is kept when they are removed. */
export const rulesKey = '{intake}:rules'
export const secretField = 'secret'

/**
 * Concurrent commands get the same secret. Null if it was lost: with a new one, gateways would
 * store the records of suppressed senders again.
 */
const script = `
if redis.call('HEXISTS', KEYS[1], '${secretField}') == 0 then
  if redis.call('HLEN', KEYS[2]) > 0 then return false end
  redis.call('HSET', KEYS[1], '${secretField}', ARGV[1])
end
return redis.call('HGET', KEYS[1], '${secretField}')`

export async function requireInstallation(redis: Redis): Promise<void> {
  if ((await readInstallation(redis)) === null) throw new Error('Redis belongs to no installation')
}

/** Creates the secret of the installation if there is none; rejects if it was lost. */
async function readSecret(redis: Redis): Promise<string> {
  await requireInstallation(redis)
  const created = randomBytes(32).toString('base64')
  const secret = await redis.eval(script, 2, rulesKey, suppressedKey, created)
  if (secret === null) {
    throw new Error(
      `the field ${secretField} of ${rulesKey} is lost, with which suppressed senders were hashed (docs/erasure.md)`,
    )
  }
  return secret as string
}

export async function readSubjectKey(redis: Redis): Promise<KeyObject> {
  return deriveSubjectKey(await readSecret(redis))
}
