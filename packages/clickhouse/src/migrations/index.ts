import type { Migration } from './migration.ts'
import { logsAndFeedback } from './0001-logs-and-feedback.ts'
import { deadLetters } from './0002-dead-letters.ts'
import { installation } from './0003-installation.ts'
import { country } from './0005-country.ts'
import { outcomesAndWatermark } from './0006-outcomes-and-watermark.ts'
import { erasuresAndRetention } from './0007-erasures-and-retention.ts'
import { exactParams } from './0008-exact-params.ts'

/**
 * All migrations, in the order of application. A released migration never changes: add another one.
 */
export const migrations: readonly Migration[] = [
  logsAndFeedback,
  deadLetters,
  installation,
  country,
  outcomesAndWatermark,
  erasuresAndRetention,
  exactParams,
]
