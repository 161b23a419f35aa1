export { defineReadBacklogs, type Backlog, type Backlogs, type ReadBacklogs } from './backlog.ts'
export type { BatchLimits } from './batch-room.ts'
export { createFrameConsumer, type ClaimedFrame, type FrameConsumer } from './consumer.ts'
export { startDeliveryQueue } from './delivery-queue.ts'
export { createFrame, FrameError, openFrame, type Frame, type NewFrame } from './frame.ts'
export { createJobSink, type JobSink } from './job-sink.ts'
export { createJobSource, type ClaimedJob, type JobSource, type Waiting } from './job-source.ts'
export { createQueuedFrames, type QueuedFrame, type QueuedFrames } from './queued-frames.ts'
export { createQueuePause, type QueuePause } from './queue-pause.ts'
export { queueKinds, queueNames, queuePrefix, type QueueName } from './names.ts'
export { createFrameProducer, type FrameProducer } from './producer.ts'
export { startShardHealth, type ShardHealth } from './shards/shard-health.ts'
export {
  findLostShards,
  markShards,
  readShards,
  registerShard,
  restoreRegistry,
} from './shards/shard-registry.ts'
export { createShardRouter, type RouteFrame } from './shards/shard-router.ts'
export { createShardedSource } from './shards/sharded-source.ts'
export { shardMarkKey, shardPrefix, shardsMax } from './shards/shards.ts'
export { queueError } from './queue-error.ts'
