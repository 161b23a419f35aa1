// Starts ClickHouse (clickhouse-engine.mjs) with a low priority, and confined if the system
// supports it. With the function file() and some formats, every user of clickhouse-local can read
// every file that the process can read, regardless of grants. So ClickHouse is confined.
// The function sqlite() creates its database file before it checks grants, so every user could
// create files among those of the tables. SQLite opens files for reading and writing and creates
// them thereby; ClickHouse itself creates files only for writing. So the former is forbidden.
// Arguments: those of clickhouse-engine.mjs. With --check, prints as JSON why the process cannot be
// confined, and does not start ClickHouse. These files are plain JavaScript, because they are
// programs of their own, both of the sources and of dist.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import { becomeConfinedNode } from '@intake/confinement/confined-node.mjs'
import { obstacles } from '@intake/confinement/landlock.mjs'
import { pathOf, program } from './program.mjs'

const { files, network, systemCalls } = obstacles()
const found = { files: files ?? systemCalls, network }

if (process.argv[2] === '--check') {
  console.log(JSON.stringify(found))
} else {
  lowerPriority(Number(process.env.NICENESS ?? 10))
  if (found.files === undefined) startConfined(process.argv.slice(2))
  else await import('./clickhouse-engine.mjs')
}

function startConfined(args) {
  const [dataDir, configFile, port] = args
  const facts = ['cpuinfo', 'loadavg', 'meminfo', 'self', 'stat', 'uptime'].map(
    (it) => `/proc/${it}`,
  )
  const processors = ['/sys/devices/system', '/sys/fs/cgroup']
  becomeConfinedNode({
    script: pathOf('clickhouse-engine.mjs'),
    args,
    readable: [...program, dirname(configFile), ...facts, ...processors],
    writable: [dataDir],
    port,
    withoutReadWriteCreate: true,
  })
}

/**
 * Lowers the priority of ClickHouse. On shared CPUs, its bursts of inserts and merges would
 * otherwise delay acknowledgements.
 */
function lowerPriority(niceness) {
  // Linux may schedule whole sessions (autogroup). Then only the priority of the session counts.
  const ofSession = '/proc/self/autogroup'
  try {
    setPriority(niceness)
    if (existsSync(ofSession) && hasOwnSession()) writeFileSync(ofSession, String(niceness))
  } catch (error) {
    console.error(`The priority could not be lowered: ${error.message}`)
  }
}

function hasOwnSession() {
  const [, , , session] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return session === String(process.pid)
}
