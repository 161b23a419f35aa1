export { errorCatalogue, IntakeError, type ErrorCode, type FieldError } from './errors.ts'
export {
  attachmentKey,
  attachmentPrefix,
  originalKey,
  parseAttachmentKey,
  thumbnailBytesMax,
  thumbnailKey,
} from './attachment-keys.ts'
export { dayMs, keptFor, limits } from './limits.ts'
export type { OutcomeCode } from './outcomes.ts'
export { kinds, type RecordKind } from './kinds.ts'
export {
  DeviceInformation,
  deviceFields,
  documentedDeviceFields,
  momentDeviceFields,
  type DeviceField,
} from './schemas/device.ts'
export { FeedbackPayload, FeedbackCreated, AttachmentResult } from './schemas/feedback.ts'
export { LogSubmission, LogCreated } from './schemas/log.ts'
export {
  LogBatchEnvelope,
  LogBatchResult,
  LogBatchSubmission,
  LogEntry,
  LogEntryResult,
} from './schemas/log-batch.ts'
export { senderFields, type Sender } from './schemas/sender.ts'
export { isDate, isTimestamp } from './moments.ts'
export { parseOrigin } from './origins.ts'
export { Problem } from './schemas/problem.ts'
export { imageTypes } from './image-types.ts'
export { compileCheck, compileSchema, type Validator } from './validate.ts'
export { documentedFields } from './schemas/documented.ts'
export { createUuidV7, isUuid, printUuid, timeOfUuidV7, uuidPattern, uuidTime } from './uuid.ts'
