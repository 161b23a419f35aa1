import { readSecret } from '@intake/runtime'
import { setUp } from '@intake/schema/setup'
import type { Command } from 'commander'
import { findBucket } from '../bucket.ts'
import { findClickHouse } from '../clickhouse.ts'
import { findEndpoint } from '../endpoints.ts'
import { operator } from '../journal.ts'
import { note, print } from '../print.ts'
import { timeOption } from '../option-values.ts'

/** Running it again is safe, so it may run at every start. */
export function define(setup: Command): void {
  setup
    .option('--accept-empty-redis', 'continue although Redis has lost its data')
    .option(
      '--new-shards-from <time>',
      'spread records from this time on (ISO 8601, UTC unless it has an offset) over the shards that were added to CLICKHOUSE_CLUSTER',
      timeOption,
    )
    .addHelpText(
      'after',
      '\nINTAKE_API_KEY, or the content of the file INTAKE_API_KEY_FILE, becomes the first API key.',
    )
    .action(async (options: { acceptEmptyRedis?: boolean; newShardsFrom?: Date }) => {
      const { url: clickhouseUrl, cluster: clickhouseCluster } = await findClickHouse()
      const secret = readSecret(process.env, 'INTAKE_API_KEY')
      const { applied, waiting } = await setUp({
        redisUrl: await findEndpoint('REDIS_URL'),
        clickhouseUrl,
        clickhouseCluster,
        newShardsFrom: options.newShardsFrom,
        s3: await findBucket(),
        who: operator(),
        acceptEmptyRedis: options.acceptEmptyRedis ?? false,
        ...(secret && { apiKey: { name: 'first', secret } }),
      })
      for (const name of applied) print(`applied ${name}`)
      for (const name of waiting) {
        note(`Analyst ${name}: see intake analysts show ${name}. The users must be made first.`)
      }
      print('Intake is set up.')
    })
}
