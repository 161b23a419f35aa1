export { createFrameProducer, type FrameProducer } from './producer.ts'
export { startFrameConsumer, type FrameConsumer } from './consumer.ts'
