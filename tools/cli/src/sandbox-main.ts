// The program `intake-sandbox` of a release: `intake sandbox` alone, without the other commands.
import { version } from '@intake/runtime'
import { Command, CommanderError } from 'commander'
import { define } from './commands/sandbox.ts'
import { configureOutput, printError } from './print.ts'

const program = new Command('intake-sandbox')
  .description('a gateway in memory, with faults on demand, for tests of apps that send')
  .version(version)
  .exitOverride()
configureOutput(program)
define(program)

try {
  await program.parseAsync()
} catch (error) {
  const isPrinted = error instanceof CommanderError
  if (!isPrinted) printError(error)
  process.exitCode = isPrinted ? error.exitCode : 1
}
