import { Command } from 'commander'
import { addDeadLettersCommand } from './commands/dead-letters.ts'
import { addEnvCommand } from './commands/env.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addSetupCommand } from './commands/setup.ts'

const program = new Command('intake').description('Operates an Intake deployment')
addKeysCommand(program)
addSetupCommand(program)
addDeadLettersCommand(program)
addEnvCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
