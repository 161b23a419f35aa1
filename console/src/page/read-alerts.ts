import { ClickHouseError } from '@intake/clickhouse'
import { ofApplication, querySettings, type RecordReader } from './records.ts'

/** An alert on events (docs/alerts.md) that is not ok. */
export interface RaisedAlert {
  bundle_identifier: string
  /** Empty: crashes with a new stack trace. */
  event: string
  state: 'firing' | 'unknown'
  value: number | null
  /** In seconds since 1970. */
  since: number
}

const alertsMax = 200

/**
 * Reads the alerts that fire or are unknown, the latest first. There are none while the reader has
 * no right to read them, as after an upgrade of a server whose users were made by hand.
 *
 * @param application limits the result to one application
 */
export async function readRaisedAlerts(
  reader: RecordReader,
  application?: string,
): Promise<RaisedAlert[]> {
  try {
    return await reader.query<RaisedAlert>(
      `SELECT bundle_identifier, event, state, value, toUnixTimestamp(since) AS since
       FROM intake.alert_states AS states
       WHERE state != 'ok' AND ${ofApplication(application)}
       ORDER BY state, states.since DESC, id LIMIT ${alertsMax} ${querySettings}`,
      { application },
    )
  } catch (error) {
    if (error instanceof ClickHouseError && error.kind === 'operator') return []
    throw error
  }
}
