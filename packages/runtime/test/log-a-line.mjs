// logger.test.ts runs this program, in a terminal and without one.
import { createLogger } from '../dist/logger.js'

createLogger({ name: 'test', level: 'info' }).info({ port: 80 }, 'ready')
