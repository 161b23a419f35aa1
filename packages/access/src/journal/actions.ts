/** What an operator can have done, with what an entry of the journal has as its subject. */
export const journalActions = {
  'redis-loss-accepted': 'intake setup --accept-empty-redis; subject: empty',
  'key-created': 'an API key, by its id',
  'key-set': 'an API key whose name, limits or scope changed',
  'key-suspended': 'an API key',
  'key-resumed': 'an API key',
  'key-revoked': 'an API key',
  'rule-added': 'a rule, by its id',
  'rule-removed': 'a rule',
  'queue-paused': 'a queue: logs, feedback or outcomes',
  'queue-resumed': 'a queue',
  'dead-letters-replayed': 'a dead letter, by its id, or all',
  'dead-letters-dropped': 'a dead letter, or all',
  'sender-suppressed': 'a user or device, as a hash',
  'sender-unsuppressed': 'a user or device, as a hash',
  'erasure-begun': 'a user, device or API key, as a hash; empty: what has reappeared',
  'retention-set': 'logs, feedback, dead-letters or counts',
  'retention-applied': 'what was older than its retention; subject: empty',
  'analyst-created': 'an analyst, by name',
  'analyst-set': 'an analyst',
  'analyst-password-set': 'an analyst',
  'analyst-removed': 'an analyst',
  'records-exported': 'a target, as in --to',
  'subject-exported': 'a user or device, as a hash',
} as const

export type JournalAction = keyof typeof journalActions
