import { ClickHouseError, describeError, withClickHouse } from '@intake/clickhouse'
import { findZoneViolations } from '@intake/schema'
import { readSecret } from '@intake/runtime'
import { settingFinding } from './clickhouse.ts'
import { finding, type Finding } from './finding.ts'

const timeoutMs = 15_000

/** Examines the ClickHouse user of the console's page (`PAGE_CLICKHOUSE_URL`), if one is set. */
export async function examineReader(env: Record<string, string | undefined>): Promise<Finding[]> {
  const url = readSecret(env, 'PAGE_CLICKHOUSE_URL')
  if (url === undefined) return []
  try {
    return await withClickHouse({ url, requestTimeoutMs: timeoutMs }, async (clickhouse) => {
      for (const view of ['dead_letters', 'watermark', 'logs', 'feedback']) {
        await clickhouse.query(`SELECT * FROM intake.${view} LIMIT 0`)
      }
      return (await findZoneViolations(clickhouse, 'PAGE_CLICKHOUSE_URL')).map(settingFinding)
    })
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error
    return [
      finding(
        'page_fails',
        `the views cannot be read with PAGE_CLICKHOUSE_URL: ${describeError(error)}`,
        'Correct PAGE_CLICKHOUSE_URL: the user needs what deploy/clickhouse/users.xml grants reader.',
      ),
    ]
  }
}
