// A process that becomes a ClickHouse server: libchdb contains the whole engine with its HTTP server.
// clickhouse-local, the program behind chdb_query_cmdline, starts listening by a SQL statement.
import { isNullPointer, DataType, load, open } from 'ffi-rs'
import { libchdbPath } from 'chdb/libchdb'

const [dataDir, configFile, port] = process.argv.slice(2)

// The second statement never ends and so keeps the server running.
const sql = `SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1, max_threads = 1 FORMAT Null`

const argv = [
  'clickhouse',
  `--path=${dataDir}`,
  `--config-file=${configFile}`,
  `--http_port=${port}`,
  '--listen_host=127.0.0.1',
  `--query=${sql}`,
]

const library = 'chdb'
open({ library, path: libchdbPath() })

// The engine checks how much of its stack is left and so needs a thread of its own.
const result = await load({
  library,
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  runInNewThread: true,
})

// Reached only when the server could not start or had to give up; a port in use gives no message.
const message = resultError(DataType.External)
console.error(isNullPointer(message) ? 'The engine ended.' : resultError(DataType.String))
process.exitCode = 1

function resultError(retType) {
  return load({
    library,
    funcName: 'chdb_result_error',
    retType,
    paramsType: [DataType.External],
    paramsValue: [result],
  })
}
