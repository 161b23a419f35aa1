// Loaded into every test process. The processes that a test starts get neither coverage nor the
// hooks that tap puts into NODE_OPTIONS: they are killed, measured and limited in memory, and start
// twice as fast without. A test that starts commands which end by themselves passes COVERAGE_DIR on
// to them, as NODE_V8_COVERAGE.
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
