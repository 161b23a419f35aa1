import type { Command } from 'commander'
import { findEndpoint, runningStack, type EndpointVariable } from '../endpoints.ts'
import { printForShell, printJson } from '../print.ts'

const shown: EndpointVariable[] = ['REDIS_URL', 'CLICKHOUSE_URL', 'S3_ENDPOINT']

export function define(env: Command): void {
  env
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      '\nExamples: one more gateway, one more worker\n' +
        '  eval "$(intake env)" && PORT=3010 GATEWAY_ADMIN_PORT=3011 node gateway/dist/main.js\n' +
        '  eval "$(intake env)" && WORKER_ADMIN_PORT=0 node worker/dist/main.js\n\n' +
        'Secrets that npm start was given by value are not among them: give them to the processes too.',
    )
    .action(async (options: { json?: boolean }) => {
      const settings = (await runningStack())?.settings ?? {}
      const urls = await Promise.all(
        shown
          .filter((variable) => !(`${variable}_FILE` in settings))
          .map(async (variable) => [variable, await findEndpoint(variable)] as const),
      )
      const values = [...urls, ...Object.entries(settings)]
      if (options.json) return printJson(Object.fromEntries(values))
      for (const [variable, value] of values) {
        printForShell(`export ${variable}='${value.replaceAll("'", "'\\''")}'`)
      }
    })
}
