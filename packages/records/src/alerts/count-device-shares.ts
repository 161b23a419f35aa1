import type { ClickHouse } from '@intake/clickhouse'
import {
  arrivedInWindow,
  askedEvent,
  askedVersion,
  divide,
  querySettings,
  questionParams,
  type EventQuestion,
} from './question.ts'

interface Row {
  bundle_identifier: string
  named: string
  version: string
  devices: number
}

/**
 * Counts which percentage of the devices that sent anything in the window sent the event; those of
 * the version, if the question names one. Devices whose events are sampled count by their rate.
 *
 * @param toMs the end of all windows, in milliseconds since 1970
 * @returns the percentage of each question, by its id; of no devices it is 0
 */
export async function countDeviceShares(
  reader: Pick<ClickHouse, 'query'>,
  questions: readonly EventQuestion[],
  toMs: number,
): Promise<Map<string, number>> {
  const shares = new Map<string, number>()
  const windows = new Set(questions.map(({ minutes }) => minutes))
  const parts = [...windows].flatMap((window) =>
    divide(questions.filter(({ minutes }) => minutes === window)),
  )
  for (const some of parts) {
    const rows = await reader.query<Row>(
      `SELECT bundle_identifier, pair.1 AS named, pair.2 AS version,
         uniqCombined64(device_uuid) / if(named = '', 1, avg(sample_rate)) AS devices
       FROM intake.logs
       ARRAY JOIN arrayDistinct(arrayConcat(
         [('', ''), (${askedEvent}, '')],
         [('', ${askedVersion(some)}), (${askedEvent}, ${askedVersion(some)})])) AS pair
       WHERE ${arrivedInWindow}
       GROUP BY bundle_identifier, named, version ${querySettings}`,
      questionParams(some, toMs),
    )
    for (const { id, bundle, event, versionName } of some) {
      const devicesOf = (named: string) =>
        rows.find(
          (row) =>
            row.bundle_identifier === bundle && row.named === named && row.version === versionName,
        )?.devices ?? 0
      const all = devicesOf('')
      shares.set(id, all === 0 ? 0 : Math.min(100, (100 * devicesOf(event)) / all))
    }
  }
  return shares
}
