export { createFrameProducer, type FrameProducer } from './producer.ts'
export { createJobSink, type JobSink } from './job-sink.ts'
export { createShardRouter, type RouteFrame } from './shards/shard-router.ts'
