// Logs far more than fits on the disk of its standard output, frees space on it and logs once more.
import { rmSync } from 'node:fs'
import { createLogger } from '../src/logger.ts'

const log = createLogger({ name: 'test', level: 'info' })
const bytes = 16 * 1024
for (let line = 0; line < 4_000; line++) log.info('x'.repeat(bytes))
if (process.memoryUsage.rss() > 300 * 1024 ** 2) throw new Error('the lines are kept in memory')
rmSync(process.argv[2] ?? '')
log.info('there is room again')
