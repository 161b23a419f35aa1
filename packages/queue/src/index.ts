export type { BatchLimits } from './batch-room.ts'
export { createFrameConsumer, type ClaimedFrame, type FrameConsumer } from './consumer.ts'
export { startDeliveryQueue, type DeliveryQueue, type FailedDelivery } from './delivery-queue.ts'
export { createFrame, FrameError, openFrame, type Frame } from './frame.ts'
export { createJobSink, type JobSink } from './job-sink.ts'
export {
  createJobSource,
  type Backlog,
  type ClaimedJob,
  type JobSource,
  type Waiting,
} from './job-source.ts'
export { createQueuedFrames, type QueuedFrames } from './queued-frames.ts'
export { queueNames, queuePrefix, type QueueName } from './names.ts'
export { definePendingRecords, type PendingRecords } from './pending-records.ts'
export { createFrameProducer, type FrameProducer, type NewFrame } from './producer.ts'
export { queueError } from './queue-error.ts'
