// Loaded into every test process. Keeps the coverage, and the hooks that tap puts into
// NODE_OPTIONS, from the processes that a test starts: these are killed, measured and limited in
// memory, and start twice as fast without hooks. A test that starts commands which end by
// themselves passes COVERAGE_DIR on to them, as NODE_V8_COVERAGE.
const { NODE_V8_COVERAGE } = process.env
if (NODE_V8_COVERAGE !== undefined) process.env.COVERAGE_DIR = NODE_V8_COVERAGE
delete process.env.NODE_V8_COVERAGE
delete process.env.NODE_OPTIONS
