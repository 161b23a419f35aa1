import { hash } from 'node:crypto'
import type { TObject } from 'typebox'

/** All processes that have one of these need the same value; `intake doctor` compares them. */
const sharedSettings = [
  // What an acknowledgement promises.
  'REDIS_ACK_REPLICAS',
  'REDIS_DURABILITY',
  'CLICKHOUSE_INSERT_QUORUM',
  // Where rows and pictures are, and what the pictures have.
  'CLICKHOUSE_CLUSTER',
  'S3_BUCKET',
  'S3_PREFIX',
  'KEEP_METADATA',
  // Limits of a count that gateways share.
  'RATE_LIMIT_MAX',
  'EVENTS_PER_MINUTE_MAX',
  'LOG_BYTES_PER_MINUTE_MAX',
  'FEEDBACK_PER_MINUTE_MAX',
  'ATTACHMENT_BYTES_PER_MINUTE_MAX',
  // Any console may send any message.
  'FEEDBACK_WEBHOOK_URL',
  'FEEDBACK_WEBHOOK_SECRET',
  'FEEDBACK_WEBHOOK_FORM',
  'FEEDBACK_WEBHOOK_EMAIL',
  'FEEDBACK_WEBHOOK_TOKEN',
  'FEEDBACK_WEBHOOKS',
]

/**
 * The shared settings of a process by name, as digests of 16 bits: of all guesses at a secret, too
 * many have its digest. A folder means the same with a slash at its end.
 */
export function digestShared(schema: TObject, config: object): Record<string, string> {
  const values = new Map<string, unknown>(Object.entries(config))
  const digest = (name: string) =>
    hash('sha256', JSON.stringify(values.get(name) ?? '').replace(/\/"$/, '"')).slice(0, 4)
  const names = sharedSettings.filter((name) => name in schema.properties)
  return Object.fromEntries(names.map((name) => [name, digest(name)]))
}
