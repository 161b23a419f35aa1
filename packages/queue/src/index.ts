export { startFrameConsumer, type Backlog, type FrameConsumer } from './consumer.ts'
export { createFrameProducer, type FrameProducer } from './producer.ts'
