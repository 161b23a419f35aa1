import { readSecret } from '@intake/runtime'
import { setUp } from '@intake/setup'
import type { Command } from 'commander'
import { findBucket } from '../bucket.ts'
import { findEndpoint } from '../endpoints.ts'

/** `intake setup`: prepares the services for gateways and workers; may run at every start. */
export function defineSetup(setup: Command): void {
  setup
    .option('--accept-empty-redis', 'continue although Redis has lost its data')
    .addHelpText(
      'after',
      '\nINTAKE_API_KEY, or the content of the file INTAKE_API_KEY_FILE, becomes the first API key.',
    )
    .action(async (options: { acceptEmptyRedis?: boolean }) => {
      const secret = readSecret(process.env, 'INTAKE_API_KEY')
      const { applied } = await setUp({
        redisUrl: findEndpoint('REDIS_URL'),
        clickhouseUrl: findEndpoint('CLICKHOUSE_URL'),
        s3: findBucket(),
        acceptEmptyRedis: options.acceptEmptyRedis ?? false,
        ...(secret && { apiKey: { name: 'first', secret } }),
      })
      for (const name of applied) console.log(`applied ${name}`)
      console.log('Intake is set up.')
    })
}
