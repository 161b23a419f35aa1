import { parseTime, readSecret, timeForm } from '@intake/runtime'
import { setUp } from '@intake/setup'
import { InvalidArgumentError, type Command } from 'commander'
import { findBucket } from '../bucket.ts'
import { findClickHouse } from '../clickhouse.ts'
import { findEndpoint } from '../endpoints.ts'
import { print } from '../print.ts'

/**
 * `intake setup`: prepares the services for gateways and workers. Running it again is safe, so it
 * may run at every start.
 */
export function defineSetup(setup: Command): void {
  setup
    .option('--accept-empty-redis', 'continue although Redis has lost its data')
    .option(
      '--new-shards-from <time>',
      'spread records from this time on (ISO 8601, UTC unless it has an offset) over the shards that were added to CLICKHOUSE_CLUSTER',
      requireTime,
    )
    .addHelpText(
      'after',
      '\nINTAKE_API_KEY, or the content of the file INTAKE_API_KEY_FILE, becomes the first API key.',
    )
    .action(async (options: { acceptEmptyRedis?: boolean; newShardsFrom?: Date }) => {
      const { url: clickhouseUrl, cluster: clickhouseCluster } = await findClickHouse()
      const secret = readSecret(process.env, 'INTAKE_API_KEY')
      const { applied } = await setUp({
        redisUrl: await findEndpoint('REDIS_URL'),
        clickhouseUrl,
        clickhouseCluster,
        newShardsFrom: options.newShardsFrom,
        s3: await findBucket(),
        acceptEmptyRedis: options.acceptEmptyRedis ?? false,
        ...(secret && { apiKey: { name: 'first', secret } }),
      })
      for (const name of applied) print(`applied ${name}`)
      print('Intake is set up.')
    })
}

function requireTime(text: string): Date {
  const time = parseTime(text)
  if (time === undefined) throw new InvalidArgumentError(`It must be ${timeForm}.`)
  return time
}
