import type { Command } from 'commander'
import { findEndpoint, type EndpointVariable } from '../endpoints.ts'

const shown: EndpointVariable[] = ['REDIS_URL', 'CLICKHOUSE_URL', 'S3_ENDPOINT']

/**
 * `intake env`: the services of the running stack as shell exports, for starting more processes by
 * hand.
 */
export function defineEnv(env: Command): void {
  env
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      '\nExample: one more worker\n  eval "$(intake env)" && WORKER_ADMIN_PORT=0 node worker/dist/main.js',
    )
    .action((options: { json?: boolean }) => {
      const values = shown.map((variable) => [variable, findEndpoint(variable)] as const)
      if (options.json) return console.log(JSON.stringify(Object.fromEntries(values)))
      for (const [variable, value] of values) {
        console.log(`export ${variable}='${value.replaceAll("'", "'\\''")}'`)
      }
    })
}
