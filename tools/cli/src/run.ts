import { connectOnlyToOwnUser } from '@intake/own-ports'
import type { ClickHouseError } from '@intake/clickhouse'
import { version } from '@intake/runtime'
import { Command, CommanderError } from 'commander'
import { commands, define } from './commands.ts'
import { adoptSettings } from './endpoints.ts'
import { configureOutput, printError } from './print.ts'

const guide = `
Commands find the services by REDIS_URL, CLICKHOUSE_URL and S3_ENDPOINT (or by files: REDIS_URL_FILE …), or else
those that npm start runs in this folder (in another one: INTAKE_DATA_DIR). In a clone, type ./intake.

Examples:
  intake status                   the state of the services, and what to do
  intake doctor                   what is configured wrongly
  intake trace 019aa5e6-5c40-7abc-8def-0123456789ab
                                  where this record is
  intake keys create --name iOS   a key for an application

Exit codes: 0 done, 1 the command failed or was used wrongly; the help of a command lists its others.
docs/cli.md shows every command with its output.`

/** Runs a command until it ends. Sets `process.exitCode`, and resolves to it. */
export async function runIntake(args: readonly string[]): Promise<number> {
  const program = new Command('intake')
    .description('Operates an Intake deployment')
    .version(version)
    .addHelpText('after', guide)
    .exitOverride()
  configureOutput(program)
  /** The name of the requested command: `status` in both `intake status` and `intake help status`. */
  const asked = args.find((word) => word !== 'help')
  for (const [name, description] of Object.entries(commands)) {
    const command = program.command(name).description(description)
    if (name === asked) await define(command, name)
  }

  try {
    await adoptSettings()
    connectOnlyToOwnUser(process.env['OWN_PORTS'])
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has already printed the text of its error. After --help, this error is no failure.
    const isPrinted = error instanceof CommanderError
    if (!isPrinted) printError(await nameSetting(error))
    process.exitCode = isPrinted ? error.exitCode : 1
  }
  return Number(process.exitCode ?? 0)
}

/** Adds to a failure of Redis or ClickHouse which setting to correct. Loads their clients only here. */
async function nameSetting(error: unknown): Promise<unknown> {
  if (!(error instanceof Error)) return error
  if (error.name === 'ReplyError') {
    const { describeReply } = await import('./redis-failure.ts')
    return describeReply(error)
  }
  if (error.name !== 'ClickHouseError') return error
  const { explainFailure } = await import('@intake/clickhouse')
  return explainFailure(error as ClickHouseError)
}
