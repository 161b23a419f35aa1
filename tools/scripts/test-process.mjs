// Every test process loads this module. It keeps the hooks that tap puts into NODE_OPTIONS out of
// the processes that a test starts, because tests kill and measure these and limit their memory.
// For the same reason it moves NODE_V8_COVERAGE (npm run test:coverage) to COVERAGE_DIR, which tests
// pass on only to commands that end by themselves.
const spawning = globalThis[Symbol.for('process-on-spawn@*:singletonId')]
if (spawning === undefined) throw new Error('not a process of tap: pass execArgv to fork()')
spawning.unwrap()
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
