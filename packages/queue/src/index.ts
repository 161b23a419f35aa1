export type { BatchLimits } from './batch-room.ts'
export {
  createFrameConsumer,
  type Batch,
  type ClaimedFrame,
  type FrameConsumer,
} from './consumer.ts'
export { createJobSource, type Backlog, type JobSource } from './job-source.ts'
export { createFrameProducer, type FrameProducer } from './producer.ts'
