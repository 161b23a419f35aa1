// Runs a ClickHouse server in this process. The library libchdb contains the whole engine with its
// HTTP server. Its function chdb_query_cmdline runs clickhouse-local, which begins to listen when
// it executes the statement SYSTEM START LISTEN HTTP. Arguments: data folder, configuration file,
// port, and the minimum number of free bytes on the disk of the data folder. If fewer bytes are
// free, the process ends.
import { fchmodSync, fstatSync, readdirSync, statfsSync } from 'node:fs'
import { isNullPointer, DataType, load, open } from 'ffi-rs'
import { libchdbPath } from 'chdb/libchdb'

const [dataDir, configFile, port, endBelowBytes] = process.argv.slice(2)
/** The interval between disk checks, which is shorter when less space is free. */
const diskCheckMs = { min: 5, max: 100 }
/** The highest speed at which a disk is assumed to fill up. Even a memory disk is slower. */
const diskBytesPerMs = 8 * 1024 ** 2
const pipeCheckMs = 5_000

// The second statement never ends, so the server keeps running. It reports its progress every three
// seconds and not ten times a second (the default), because nothing reads the reports.
const sql = `SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1, max_threads = 1, interactive_delay = 3000000 FORMAT Null`

// Otherwise any error of a connection, such as the head of a request that is cut off, would end the
// process. This option has an effect only if the standard input is a terminal.
const argv = [
  'clickhouse',
  '--interactive',
  '--progress=off',
  `--path=${dataDir}`,
  `--config-file=${configFile}`,
  `--http_port=${port}`,
  '--listen_host=127.0.0.1',
  `--query=${sql}`,
]

endBeforeDiskIsFull()
if (process.platform === 'linux') closePipesToNames()
const library = 'chdb'
open({ library, path: libchdbPath() })

// The engine checks how much of its stack is left. This check needs a separate thread.
const result = await load({
  library,
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  runInNewThread: true,
})

// The engine returns only if it could not start or has failed. After a failed statement it tries to
// begin a dialogue. That fails, because the environment names no folder for the history.
const message = resultError(DataType.External)
console.error(isNullPointer(message) ? 'The engine has ended.' : resultError(DataType.String))
process.exitCode = 1

/**
 * Ends the process as abruptly as in a crash when less than `endBelowBytes` are free. The tables
 * survive this, but they would not survive a full disk. If the disk has no room for a write,
 * libchdb ignores the error (WriteBufferFromFileDescriptor.cpp): it confirms the insert, or
 * replaces good parts by a broken one.
 */
function endBeforeDiskIsFull() {
  const left = freeBytes() - Number(endBelowBytes)
  if (left < 0) process.kill(process.pid, 'SIGKILL')
  const { min, max } = diskCheckMs
  // Waits half the time in which the disk could fill up, within the bounds of `diskCheckMs`.
  const ms = Math.max(min, Math.min(max, left / diskBytesPerMs / 2))
  setTimeout(endBeforeDiskIsFull, ms).unref()
}

/**
 * Keeps queries from opening the pipes of this process. Landlock lets a query open a pipe a second
 * time with `file('/proc/self/fd/4')`. Reading this pipe then never ends. A pipe without access
 * rights cannot be opened by that name, but its open descriptors still work. If the process runs as
 * root, access rights have no effect. hung-queries.ts then ends the engine when a query hangs.
 */
function closePipesToNames() {
  setInterval(() => {
    try {
      for (const descriptor of readdirSync('/proc/self/fd').map(Number)) closeIfPipe(descriptor)
    } catch (error) {
      console.error(`The pipes could not be closed to queries: ${error.message}`)
    }
  }, pipeCheckMs).unref()
}

function closeIfPipe(descriptor) {
  // The standard streams belong to the process that started this one.
  if (descriptor <= 2) return
  try {
    const status = fstatSync(descriptor)
    if (status.isFIFO() && (status.mode & 0o777) !== 0) fchmodSync(descriptor, 0)
  } catch (error) {
    if (error.code !== 'EBADF') throw error // EBADF: it was closed meanwhile
  }
}

/** Returns the free bytes of the disk; 0, which ends the process, if they cannot be read. */
function freeBytes() {
  try {
    const { bavail, bsize } = statfsSync(dataDir)
    return bavail * bsize
  } catch {
    return 0
  }
}

function resultError(retType) {
  return load({
    library,
    funcName: 'chdb_result_error',
    retType,
    paramsType: [DataType.External],
    paramsValue: [result],
  })
}
