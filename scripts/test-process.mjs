// Loaded into every test process. Processes that a test starts do not inherit the coverage and the
// hooks that tap puts into NODE_OPTIONS, because tests kill and measure them and limit their
// memory. Without hooks they also start twice as fast. If a test starts commands that end by
// themselves, it passes COVERAGE_DIR to them as NODE_V8_COVERAGE.
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
