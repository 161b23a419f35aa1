// npm start: runs everything on this machine. Stops on Ctrl-C and SIGTERM.
import { bootstrap, checkNode } from './bootstrap.mjs'
import { prepareEngine } from './engine.mjs'
import { printHelp } from './print-help.mjs'

printHelp(`Usage: npm start -- [options]

Starts Redis, ClickHouse, an S3 server, gateway, worker and console on this machine; Ctrl-C stops them.
  --accept-empty-redis   for one start: accept that Redis has lost its data
Settings come from the environment, such as PORT and INTAKE_DATA_DIR (docs/configuration.md).`)

const parent = process.ppid
checkNode()
const installEngine = prepareEngine()
await bootstrap()
installEngine()
// The supervisor, imported below, stops when its parent exits. It would not notice that the parent
// exited during `bootstrap`.
if (process.ppid !== parent) process.exit(1)
await import('../local/dist/stack/main.js')
