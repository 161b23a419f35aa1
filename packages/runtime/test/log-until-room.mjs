// Logs far more than fits on the disk to which its standard output is written, then frees space on
// that disk and logs once more.
import { rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLogger } from '../dist/logger.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
/**
 * Returns the number of bytes that are still referenced. The size of the process is not used,
 * because it depends on when garbage is collected.
 */
const keptBytes = () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const log = createLogger({ name: 'test', level: 'info' })
const lineBytes = 16 * 1024
const before = keptBytes()
for (let line = 0; line < 4_000; line++) {
  log.info('x'.repeat(lineBytes))
  // The log replaces its stream again and again. A replaced stream remains in memory until the turn
  // of the event loop ends.
  if (line % 100 === 99) await turn()
}
const kept = keptBytes() - before
if (kept > 8 * 1024 ** 2) throw new Error(`${kept} bytes of the lines are kept in memory`)
rmSync(process.argv[2] ?? '')
log.info('there is room again')
