import type { ClickHouse } from '@intake/clickhouse'
import {
  alertWebhook,
  FinalDeliveryError,
  parseAlertDeliveryId,
  startDeliveries,
} from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { limitRepeats } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import type { StoredAlert } from '../webhook/forms/alert.ts'
import { writeAlert } from '../webhook/forms/index.ts'
import type { Receivers } from '../webhook/receivers.ts'

const help = 'docs/alerts.md'

/**
 * Sends a signed request for each change of an alert that `startAlerts` announces, to the receiver
 * of its application. The queue holds only ids: the change is read when it is sent.
 *
 * @param options.onFailed called when an attempt fails
 */
export function startAlertWebhook(options: {
  receivers: Receivers
  pageUrl?: string | undefined
  reader: Pick<ClickHouse, 'query'>
  redis: Redis
  log: Logger
  onError: (error: Error) => void
  onFailed: (detail: string) => void
}): { close(): Promise<void> } {
  const { receivers, pageUrl, reader, redis, log, onError, onFailed } = options
  const warn = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help }, 'the message of an alert failed; it will be repeated'),
  )
  return startDeliveries({
    redis,
    queue: alertWebhook,
    atOnce: receivers.atOnce,
    async deliver(id, { signal }) {
      const { alertId, change } = parseAlertDeliveryId(id)
      const row = await readChange(reader, alertId, change)
      if (row === undefined) throw new Error('the alert is not visible: it was not evaluated yet')
      const receiver = receivers.of(row.bundle_identifier)
      if (receiver === undefined) {
        throw new FinalDeliveryError('no receiver stands for the application (docs/webhook.md)')
      }
      const isTest = change === undefined
      await receiver.send({ id, body: writeAlert(row, { ...receiver, pageUrl, isTest }), signal })
    },
    onFailed({ id, attempt, isLast, error: err }) {
      onFailed(isLast ? 'a message was given up' : 'a message failed; it will be repeated')
      if (isLast) log.error({ err, id, attempt, help }, 'the message of an alert was given up')
      else warn(err)
    },
    onError,
  })
}

/** @param change undefined: the last one */
async function readChange(
  reader: Pick<ClickHouse, 'query'>,
  id: string,
  change: number | undefined,
): Promise<StoredAlert | undefined> {
  const [row] = await reader.query<StoredAlert>(
    `SELECT id, change, bundle_identifier, event, version_name, condition, threshold, unit, minutes, state, since,
       value, usual, detail
     FROM intake.alert_changes WHERE id = {id:String} ${change === undefined ? '' : 'AND change = {change:UInt64}'}
     ORDER BY change DESC LIMIT 1`,
    { id, ...(change !== undefined && { change }) },
  )
  return row
}
