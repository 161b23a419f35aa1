export * from './webhooks.ts'
export type { BatchLimits } from './batch-room.ts'
export type { ClaimedFrame } from './claimed-frames.ts'
export { createFrameConsumer, type FrameConsumer } from './consumer.ts'
export {
  FinalDeliveryError,
  markDeliveries,
  PostponedDelivery,
  startDeliveries,
} from './deliveries.ts'
export { createDeliverySink, type DeliverySink } from './delivery-sink.ts'
export { createJobSource, type ClaimedJob, type JobSource } from './job-source.ts'
export { createShardedSource } from './shards/sharded-source.ts'
export { createQueuePause } from './queue-pause.ts'
