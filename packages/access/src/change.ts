import { randomUUID } from 'node:crypto'
import type { Redis } from '@intake/redis'
import { journalKey, printEntry, type JournalEntry } from './journal.ts'
import { revisionKey } from './revision.ts'

/** Begins a script that changes the hash KEYS[1]: the journal and gateways learn of it in one step. */
const announce = `
local function announce()
  if ARGV[2] ~= '' then redis.call('RPUSH', KEYS[3], ARGV[2]) end
  if ARGV[1] ~= '' then redis.call('SET', KEYS[2], ARGV[1]) end
end`

export interface ChangedHash {
  key: string
  /** Whether gateways read it, and so must learn that it has changed. */
  isForGateways: boolean
}

/**
 * Changes a hash in one step with the revision and the entry of the journal, so that an entry
 * exists if and only if the change was made.
 *
 * @param options.script Lua: calls `announce()` before it changes the hash KEYS[1], because a Redis
 * without memory refuses that, but no removal; its own arguments begin with ARGV[3]
 */
export async function changeHash(
  redis: Redis,
  options: {
    hash: ChangedHash
    script: string
    args: readonly (string | number)[]
    entry?: JournalEntry | undefined
  },
): Promise<unknown> {
  const { hash, script, args, entry } = options
  const keys = [hash.key, revisionKey, journalKey]
  const revision = hash.isForGateways ? randomUUID() : ''
  const printed = entry === undefined ? '' : printEntry(entry)
  return redis.eval(announce + script, keys.length, ...keys, revision, printed, ...args)
}

/** Checks the limit and adds in one step, so that concurrent commands cannot exceed it. */
const addScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[5]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
announce()
return redis.call('HSET', KEYS[1], ARGV[5], ARGV[4])`

/** Adds a field, unless the hash has it; false if there are `max`. */
export async function addField(
  redis: Redis,
  options: {
    hash: ChangedHash
    field: string
    value: string
    max: number
    entry: JournalEntry
  },
): Promise<boolean> {
  const { hash, field, value, max, entry } = options
  const args = [max, value, field]
  return (await changeHash(redis, { hash, script: addScript, args, entry })) === 1
}

const removeScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 0 end
announce()
return redis.call('HDEL', KEYS[1], ARGV[3])`

/** Removes a field. Resolves to false if there is none; then nothing changes. */
export async function removeField(
  redis: Redis,
  options: { hash: ChangedHash; field: string; entry: JournalEntry },
): Promise<boolean> {
  const { hash, field, entry } = options
  return (await changeHash(redis, { hash, script: removeScript, args: [field], entry })) === 1
}
