export { createQueueUi } from './queue-ui.ts'
