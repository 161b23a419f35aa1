import type { Command } from 'commander'
import { exitCodeHelp, exitCodes } from '../state.ts'
import { findAddresses } from '../status/addresses.ts'
import { describeSummary } from '../status/describe-summary.ts'
import { summarize } from '../status/summary.ts'
import { print, printJson } from '../print.ts'

interface StatusFlags {
  gateway?: string[]
  worker?: string[]
  console?: string[]
  json?: boolean
}

const guide = `
Asks the admin ports of gateways, workers and consoles: those given, or those in INTAKE_GATEWAY_ADMIN_URL,
INTAKE_WORKER_ADMIN_URL and INTAKE_CONSOLE_ADMIN_URL (separated by commas), or those of the services that npm start runs. A host name with
several addresses stands for several processes. Each problem has a code and the page that says what to do; a
process that does not respond has the problem process_ends.

Examples:
  intake status
  intake status --worker http://10.0.0.5:3002 http://10.0.0.6:3002 --gateway http://10.0.0.4:3001
  intake status --json | jq .problems

${exitCodeHelp}`

export function define(status: Command): void {
  status
    .option('--gateway <url...>', 'admin ports of gateways')
    .option('--worker <url...>', 'admin ports of workers')
    .option('--console <url...>', 'admin ports of consoles')
    .option('--json', 'print state, problems and services as JSON')
    .addHelpText('after', guide)
    .action(async (flags: StatusFlags) => {
      const summary = await summarize(await findAddresses(flags))
      if (flags.json) printJson(summary)
      else print(describeSummary(summary, new Date()))
      process.exitCode = exitCodes[summary.state]
    })
}
