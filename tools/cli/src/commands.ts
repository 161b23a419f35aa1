import type { Command } from 'commander'

/** A command of the command line. Its module is loaded only when the command is used. */
interface LazyCommand {
  description: string
  /** Adds the command's arguments, options, subcommands and action. */
  define(command: Command): Promise<void>
}

/** The commands, in the order of the help. */
export const commands: Readonly<Record<string, LazyCommand>> = {
  status: {
    description: 'the state of gateways and workers, and what to do',
    define: async (command) => (await import('./commands/status.ts')).defineStatus(command),
  },
  doctor: {
    description: 'look for wrong settings of Redis, ClickHouse, object store, clocks and Intake',
    define: async (command) => (await import('./commands/doctor.ts')).defineDoctor(command),
  },
  tail: {
    description: 'follow what arrives: each event or feedback once, as soon as it is stored',
    define: async (command) => (await import('./commands/tail.ts')).defineTail(command),
  },
  trace: {
    description: 'where a record is: queued, in progress, stored, dead-lettered',
    define: async (command) => (await import('./commands/trace.ts')).defineTrace(command),
  },
  queue: {
    description: 'pause or resume the delivery of frames to workers',
    define: async (command) => (await import('./commands/queue.ts')).defineQueue(command),
  },
  'dead-letters': {
    description: 'records that ClickHouse rejected, kept for an operator',
    define: async (command) =>
      (await import('./commands/dead-letters.ts')).defineDeadLetters(command),
  },
  keys: {
    description: 'API keys of client applications',
    define: async (command) => (await import('./commands/keys.ts')).defineKeys(command),
  },
  rules: {
    description: 'drop, sample or change records of apps that are already shipped',
    define: async (command) => (await import('./commands/rules.ts')).defineRules(command),
  },
  alerts: {
    description: 'tell people when their app does something, or stops doing it',
    define: async (command) => (await import('./commands/alerts.ts')).defineAlerts(command),
  },
  journal: {
    description: 'what operators have changed, when and who',
    define: async (command) => (await import('./commands/journal.ts')).defineJournal(command),
  },
  analysts: {
    description: 'analysts of some applications only, without personal data',
    define: async (command) =>
      (await import('./commands/analysts.ts')).defineAnalystCommands(command),
  },
  export: {
    description: 'write all records into Parquet files, complete up to the watermark',
    define: async (command) => (await import('./commands/export-records.ts')).defineExport(command),
  },
  import: {
    description: 'import events of PostHog, Segment or a CSV file, through the queue',
    define: async (command) => (await import('./commands/import.ts')).defineImport(command),
  },
  user: {
    description: 'export or erase what is stored about one user',
    define: async (command) =>
      (await import('./commands/subjects.ts')).defineSubject(command, 'user'),
  },
  device: {
    description: 'export or erase what is stored about one device',
    define: async (command) =>
      (await import('./commands/subjects.ts')).defineSubject(command, 'device'),
  },
  purge: {
    description: 'erase everything that was accepted with an API key, for example a leaked one',
    define: async (command) => (await import('./commands/erase.ts')).definePurge(command),
  },
  erasures: {
    description: 'list what has been erased, and erase it again where it has reappeared',
    define: async (command) => (await import('./commands/erase.ts')).defineErasures(command),
  },
  retention: {
    description: 'set how long records are kept, and drop older ones',
    define: async (command) => (await import('./commands/retention.ts')).defineRetention(command),
  },
  catalogue: {
    description: 'count again what applications send, for the catalogue and the page',
    define: async (command) => (await import('./commands/catalogue.ts')).defineCatalogue(command),
  },
  setup: {
    description: 'create or update the tables, the bucket and the mark of this installation',
    define: async (command) => (await import('./commands/setup.ts')).defineSetup(command),
  },
  connect: {
    description: 'what tools for analysis need to connect: host, port, user and settings',
    define: async (command) => (await import('./commands/connect.ts')).defineConnect(command),
  },
  demo: {
    description: 'send what three invented apps do, or take it away again: something to see',
    define: async (command) => (await import('./commands/demo.ts')).defineDemo(command),
  },
  sandbox: {
    description: 'a gateway in memory, with faults on demand, for tests of apps that send',
    define: async (command) => (await import('./commands/sandbox.ts')).defineSandbox(command),
  },
  env: {
    description: 'print shell exports for the running services (with their credentials)',
    define: async (command) => (await import('./commands/env.ts')).defineEnv(command),
  },
}
