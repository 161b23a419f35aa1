import type { Migration } from '../migrate.ts'
import { logsAndFeedback } from './0001-logs-and-feedback.ts'
import { deadLetters } from './0002-dead-letters.ts'

/** In the order they are applied. A migration that was released never changes: add another one. */
export const migrations: readonly Migration[] = [logsAndFeedback, deadLetters]
