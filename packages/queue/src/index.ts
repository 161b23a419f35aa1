export { createBacklogReader, type Backlog, type Backlogs, type ReadBacklogs } from './backlog.ts'
export * from './backlog-monitor.ts'
export { createFrame, FrameError, openFrame, type Frame, type NewFrame } from './frame.ts'
export { createQueuedFrames, type QueuedFrame, type QueuedFrames } from './queued-frames.ts'
export { perQueue, queueKinds, queueNames, queuePrefix, type QueueName } from './names.ts'
export { readOldestQueued } from './oldest-queued.ts'
export { startShardHealth } from './shards/shard-health.ts'
export {
  findLostShards,
  markShards,
  readShards,
  registerShard,
  restoreRegistry,
} from './shards/shard-registry.ts'
export { shardMarkKey, shardPrefix, shardsMax } from './shards/shards.ts'
