export { errorCatalogue, IntakeError, type ErrorCode, type FieldError } from './errors.ts'
export { problem, problemType } from './problem.ts'
export * from './attachment-keys.ts'
export { importKeyId } from './import-key-id.ts'
export { batchJsonBytesMax, dayMs, hourMs, keptFor, limits, minuteMs } from './limits.ts'
export { leftOutOutcomes, nonErrorOutcomes, type OutcomeCode } from './outcomes.ts'
export { bundlePattern } from './bundle-pattern.ts'
export { kinds, type RecordKind } from './kinds.ts'
export {
  deviceFields,
  documentedDeviceFields,
  momentDeviceFields,
  type DeviceField,
} from './device-fields.ts'
export { parseOrigin } from './origins.ts'
export { imageTypes } from './image-types.ts'
export { createUuidV7, isUuid, printUuid, timeOfUuidV7, uuidPattern, uuidTime } from './uuid.ts'
