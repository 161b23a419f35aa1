import { Command } from 'commander'
import { addDeadLettersCommand } from './commands/dead-letters.ts'
import { addEnvCommand } from './commands/env.ts'
import { addErasuresCommand, addPurgeCommand } from './commands/erase.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addRetentionCommand } from './commands/retention.ts'
import { addSetupCommand } from './commands/setup.ts'
import { addSubjectCommands } from './commands/subjects.ts'

const program = new Command('intake').description('Operates an Intake deployment')
addKeysCommand(program)
addSetupCommand(program)
addDeadLettersCommand(program)
addSubjectCommands(program)
addPurgeCommand(program)
addErasuresCommand(program)
addRetentionCommand(program)
addEnvCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
