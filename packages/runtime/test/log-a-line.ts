// logger.test.ts runs this program, in a terminal and without one.
import { createLogger } from '../src/logger.ts'

createLogger({ name: 'test', level: 'info' }).info({ port: 80 }, 'ready')
