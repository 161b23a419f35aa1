// Every test process loads this module. Tap puts coverage and hooks into NODE_OPTIONS. Processes
// that a test starts do not inherit these, because tests kill and measure such processes and limit
// their memory. Without hooks they also start twice as fast. For commands that end by themselves, a
// test passes COVERAGE_DIR to them as NODE_V8_COVERAGE.
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
