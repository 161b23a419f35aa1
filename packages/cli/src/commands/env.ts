import type { Command } from 'commander'
import { findEndpoint, type EndpointVariable } from '../endpoints.ts'

const shown: EndpointVariable[] = ['REDIS_URL', 'CLICKHOUSE_URL', 'S3_ENDPOINT']

/**
 * `intake env`: the services of the running stack as shell exports, for starting more processes by
 * hand.
 */
export function addEnvCommand(program: Command): void {
  program
    .command('env')
    .description('print shell exports for the running services (with their credentials)')
    .action(async () => {
      for (const variable of shown) {
        const value = findEndpoint(variable)
        console.log(`export ${variable}='${value.replaceAll("'", "'\\''")}'`)
      }
    })
}
