export { createFrameProducer, type FrameProducer } from './producer.ts'
export { createJobSink, type JobSink } from './job-sink.ts'
export { createShardedProducer } from './shards/sharded-producer.ts'
