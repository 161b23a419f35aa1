// Every test process loads this module. Tap puts hooks into NODE_OPTIONS. Its package
// process-on-spawn also puts them into the NODE_OPTIONS of each process that a test starts. This
// module keeps the hooks out of these processes, because tests kill and measure them and limit
// their memory. Without hooks they also start twice as fast. `npm run test:coverage` sets
// NODE_V8_COVERAGE. This module moves its value to COVERAGE_DIR, so that started processes do not
// measure coverage. A test passes this value on, as NODE_V8_COVERAGE, only to commands that end by
// themselves.
const spawning = globalThis[Symbol.for('process-on-spawn@*:singletonId')]
if (spawning === undefined) throw new Error('not a process of tap: pass execArgv to fork()')
spawning.unwrap()
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
