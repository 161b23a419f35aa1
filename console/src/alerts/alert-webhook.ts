import { alertWebhook, FinalDeliveryError, parseAlertDeliveryId } from '@intake/queue/consume'
import type { StoredAlert } from '../webhook/forms/alert.ts'
import { writeAlert } from '../webhook/forms/index.ts'
import { NotVisibleError, startWebhook, type WebhookOptions } from '../webhook/start-webhook.ts'

/** Sends a request for each change of an alert that `startAlerts` announces. */
export function startAlertWebhook(options: WebhookOptions): { close(): Promise<void> } {
  const { reader, pageUrl } = options
  return startWebhook({
    ...options,
    queue: alertWebhook,
    async read(id) {
      const { alertId, change } = parseAlertDeliveryId(id)
      const [alert] = await reader.query<StoredAlert>(
        `SELECT id, change, bundle_identifier, event, version_name, condition, threshold, unit, minutes, state, since,
           value, usual
         FROM intake.alert_changes WHERE id = {id:String} ${change === undefined ? '' : 'AND change = {change:UInt64}'}
         ORDER BY change DESC LIMIT 1`,
        { id: alertId, ...(change !== undefined && { change }) },
      )
      if (alert === undefined)
        throw new NotVisibleError('the alert is not visible: it was not evaluated yet')
      const isTest = change === undefined
      const { bundle_identifier: bundle } = alert
      return { bundle, write: (receiver) => writeAlert(alert, { ...receiver, pageUrl, isTest }) }
    },
    onNoReceiver() {
      throw new FinalDeliveryError('no receiver stands for the application (docs/webhook.md)')
    },
  })
}
