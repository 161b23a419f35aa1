import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { exitCodeHelp, exitCodes } from '../state.ts'
import { findAddresses, type Address } from '../status/addresses.ts'
import { describeSummary } from '../status/describe-summary.ts'
import { summarize, type Summary } from '../status/summary.ts'
import { clearScreen, print, printJson } from '../print.ts'

interface StatusFlags {
  gateway?: string[]
  worker?: string[]
  console?: string[]
  json?: boolean
  watch?: boolean
}

const intervalMs = 2_000

const guide = `
Asks the admin ports of gateways, workers and consoles: those given, or those in INTAKE_GATEWAY_ADMIN_URL,
INTAKE_WORKER_ADMIN_URL and INTAKE_CONSOLE_ADMIN_URL (separated by commas), or those of the services that npm start runs. A host name with
several addresses stands for several processes. Each problem has a code and the page that says what to do; a
process that does not respond has the problem process_ends.

Examples:
  intake status
  intake status --watch
  intake status --worker http://10.0.0.5:3002 http://10.0.0.6:3002 --gateway http://10.0.0.4:3001
  intake status --json | jq .problems

${exitCodeHelp} With --watch, the exit code is that of the last state.`

export function define(status: Command): void {
  status
    .option('--gateway <url...>', 'admin ports of gateways')
    .option('--worker <url...>', 'admin ports of workers')
    .option('--console <url...>', 'admin ports of consoles')
    .option('--json', 'print state, problems and services as JSON')
    .option('--watch', 'repeat every two seconds until interrupted')
    .addHelpText('after', guide)
    .action(async (flags: StatusFlags) => {
      const addresses = await findAddresses(flags)
      if (flags.watch) return watch(addresses, flags)
      show(await summarize(addresses), flags)
    })
}

async function watch(addresses: readonly Address[], flags: StatusFlags): Promise<void> {
  const ending = new AbortController()
  const { signal } = ending
  const end = () => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  // Ends the command when the process that reads the output has ended.
  process.stdout.on('error', end)
  while (!signal.aborted) {
    show(await summarize(addresses), flags)
    await pause(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}

function show(summary: Summary, { json, watch: isWatching }: StatusFlags): void {
  if (isWatching && !json && process.stdout.isTTY) clearScreen()
  if (json) printJson(summary)
  else print(describeSummary(summary, new Date()))
  if (isWatching && !json && !process.stdout.isTTY) print('')
  process.exitCode = exitCodes[summary.state]
}
