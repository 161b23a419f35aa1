export { DeviceInformation } from './device.ts'
export { FeedbackPayload, FeedbackCreated, AttachmentResult } from './feedback.ts'
export { LogSubmission, LogCreated } from './log.ts'
export {
  LogBatchEnvelope,
  LogBatchResult,
  LogBatchSubmission,
  LogEntry,
  LogEntryResult,
} from './log-batch.ts'
export { senderFields, type Sender } from './sender.ts'
export { isDate, isTimestamp } from '../moments.ts'
export { Problem } from './problem.ts'
export { compileCheck, compileSchema, type Validator } from '../validate.ts'
export { documentedFields } from './documented.ts'
