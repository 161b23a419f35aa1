// A ClickHouse server that other servers can reach: the embedded engine with HTTP and TCP, but
// without the sandbox of tools/local. Arguments: data folder, configuration file, HTTP port, TCP
// port.
import { createRequire } from 'node:module'

const require = createRequire(new URL('../../tools/local/package.json', import.meta.url))
const { DataType, load, open } = require('ffi-rs')
const { libchdbPath } = require('chdb/libchdb')

const [dataDir, configFile, httpPort, tcpPort] = process.argv.slice(2)
// The last statement never ends, so the server keeps running.
const sql = `SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP;
SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1, max_threads = 1 FORMAT Null`
const argv = [
  'clickhouse',
  `--path=${dataDir}`,
  `--config-file=${configFile}`,
  `--http_port=${httpPort}`,
  `--tcp_port=${tcpPort}`,
  '--listen_host=127.0.0.1',
  `--query=${sql}`,
]
open({ library: 'chdb', path: libchdbPath() })
await load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  runInNewThread: true,
})
process.exitCode = 1
