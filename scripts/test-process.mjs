// Loaded into every test process. The processes that a test starts get neither coverage nor the hooks that tap
// puts into NODE_OPTIONS: they are killed, measured and limited in memory, and start twice as fast without. A test
// that starts commands which end by themselves passes COVERAGE_DIR on to them, as NODE_V8_COVERAGE.
import { stopCoverage } from 'node:v8'

const [, file = ''] = process.argv
/** Coverage counts the tests of the applications and packages only. */
const isCounted = /\/(gateway|worker|packages\/[^/]+)\/test\//.test(file)
if (process.env.NODE_V8_COVERAGE !== undefined) {
  if (isCounted) process.env.COVERAGE_DIR = process.env.NODE_V8_COVERAGE
  else stopCoverage()
}
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
