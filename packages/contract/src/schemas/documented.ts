import { documentedDeviceFields } from '../device-fields.ts'
import { FeedbackPayload } from './feedback.ts'
import { LogBatchSubmission, LogEntry } from './log-batch.ts'
import { LogSubmission } from './log.ts'

export const documentedFields: ReadonlySet<string> = new Set([
  ...documentedDeviceFields,
  ...Object.keys(FeedbackPayload.properties),
  ...Object.keys(FeedbackPayload.properties.feedback.properties),
  ...Object.keys(LogBatchSubmission.properties),
  ...Object.keys(LogEntry.properties),
  ...Object.keys(LogSubmission.properties),
  ...Object.keys(LogSubmission.properties.log.properties),
])
