import { Command } from 'commander'

/** Each is loaded only when it is needed: the libraries of all take a second. */
const commands: Record<string, (program: Command) => Promise<void>> = {
  keys: async (program) => (await import('./commands/keys.ts')).addKeysCommand(program),
  setup: async (program) => (await import('./commands/setup.ts')).addSetupCommand(program),
  'dead-letters': async (program) =>
    (await import('./commands/dead-letters.ts')).addDeadLettersCommand(program),
  user: async (program) =>
    (await import('./commands/subjects.ts')).addSubjectCommand(program, 'user'),
  device: async (program) =>
    (await import('./commands/subjects.ts')).addSubjectCommand(program, 'device'),
  purge: async (program) => (await import('./commands/erase.ts')).addPurgeCommand(program),
  erasures: async (program) => (await import('./commands/erase.ts')).addErasuresCommand(program),
  retention: async (program) =>
    (await import('./commands/retention.ts')).addRetentionCommand(program),
  env: async (program) => (await import('./commands/env.ts')).addEnvCommand(program),
}

const program = new Command('intake').description('Operates an Intake deployment')
const [, , name = ''] = process.argv
const asked = Object.hasOwn(commands, name) ? [commands[name]] : Object.values(commands)
for (const add of asked) await add?.(program)

try {
  await program.parseAsync()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
