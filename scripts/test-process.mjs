// Loaded into every test process. The processes that a test starts get neither coverage nor the hooks that tap
// puts into NODE_OPTIONS: they are killed, measured and limited in memory, and start twice as fast without.
import { stopCoverage } from 'node:v8'

const [, file = ''] = process.argv
/** Coverage counts the tests of the applications and packages only. */
const isCounted = /\/(gateway|worker|packages\/[^/]+)\/test\//.test(file)
if (process.env.NODE_V8_COVERAGE !== undefined && !isCounted) stopCoverage()
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
