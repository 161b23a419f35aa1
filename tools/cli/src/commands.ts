import type { Command } from 'commander'

/** The commands, in the order of the help, and what they do. */
export const commands = {
  status: 'the state of gateways, workers and consoles, and what to do',
  doctor: 'look for wrong settings of Redis, ClickHouse, object store, clocks and Intake',
  tail: 'follow what arrives: each event or feedback once, as soon as it is stored',
  trace: 'where a record is: queued, in progress, stored, dead-lettered',
  queue: 'pause or resume the delivery of frames to workers',
  'dead-letters': 'records that ClickHouse rejected, kept for an operator',
  keys: 'API keys of client applications',
  rules: 'drop, sample or change records of apps that are already shipped',
  alerts: 'tell people when their app does something, or stops doing it',
  journal: 'what operators have changed, when and who',
  analysts: 'analysts of some applications only, without personal data',
  export: 'write all records into Parquet files, complete up to the watermark',
  import: 'import events of PostHog, Segment or a CSV file, through the queue',
  user: 'export or erase what is stored about one user',
  device: 'export or erase what is stored about one device',
  purge: 'erase everything that was accepted with an API key, for example a leaked one',
  erasures: 'list what has been erased, and erase it again where it has reappeared',
  retention: 'set how long records are kept, and drop older ones',
  catalogue: 'count again what applications send, for the catalogue and the page',
  setup: 'create or update the tables, the bucket and the mark of this installation',
  connect: 'what tools for analysis need to connect: host, port, user and settings',
  demo: 'send what three invented apps do, or take it away again: something to see',
  sandbox: 'a gateway in memory, with faults on demand, for tests of apps that send',
  env: 'print shell exports for the running services (with their credentials)',
} as const
type CommandName = keyof typeof commands

/** `define` adds the arguments, options, subcommands and action of a command. */
type Define = (command: Command, name: never) => void

const modules: Record<CommandName, () => Promise<{ define: Define }>> = {
  status: () => import('./commands/status.ts'),
  doctor: () => import('./commands/doctor.ts'),
  tail: () => import('./commands/tail.ts'),
  trace: () => import('./commands/trace.ts'),
  queue: () => import('./commands/queue.ts'),
  'dead-letters': () => import('./commands/dead-letters.ts'),
  keys: () => import('./commands/keys.ts'),
  rules: () => import('./commands/rules.ts'),
  alerts: () => import('./commands/alerts.ts'),
  journal: () => import('./commands/journal.ts'),
  analysts: () => import('./commands/analysts.ts'),
  export: () => import('./commands/export-records.ts'),
  import: () => import('./commands/import.ts'),
  user: () => import('./commands/subjects.ts'),
  device: () => import('./commands/subjects.ts'),
  purge: () => import('./commands/erase.ts'),
  erasures: () => import('./commands/erase.ts'),
  retention: () => import('./commands/retention.ts'),
  catalogue: () => import('./commands/catalogue.ts'),
  setup: () => import('./commands/setup.ts'),
  connect: () => import('./commands/connect.ts'),
  demo: () => import('./commands/demo.ts'),
  sandbox: () => import('./commands/sandbox.ts'),
  env: () => import('./commands/env.ts'),
}

/** Loads the code of one command only, because loading the libraries of all takes a second. */
export async function define(command: Command, name: string): Promise<void> {
  const module = await modules[name as CommandName]()
  module.define(command, name as never)
}
