// Loaded into every test process. Coverage counts the tests of the applications and packages only, and not the
// processes that they start: those are killed, measured and limited in memory.
import { stopCoverage } from 'node:v8'

const [, file = ''] = process.argv
const isCounted = /\/(gateway|worker|packages\/[^/]+)\/test\//.test(file)
if (process.env.NODE_V8_COVERAGE !== undefined && !isCounted) stopCoverage()
delete process.env.NODE_V8_COVERAGE
