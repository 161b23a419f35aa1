import { randomBytes } from 'node:crypto'
import { readInstallationHash, type Redis } from '@intake/redis'
import { addField, parseEntries, removeFields } from '../change.ts'
import { alertsMax, parseAlert, type Alert, type AlertChoice } from './alert.ts'

/** The alerts, in Redis beside the rules. Every method rejects if Redis has lost its data. */
export interface AlertStore {
  /** Adds an alert, which must be valid; resolves to undefined when there are `alertsMax`. */
  add(choice: AlertChoice): Promise<Alert | undefined>
  /** Resolves to false if there was no such alert. */
  remove(id: string): Promise<boolean>
  /** Resolves to the alerts, oldest first, and to the ids of those that cannot be read. */
  list(): Promise<{ alerts: Alert[]; unreadable: string[] }>
}

/** The key of a Redis hash that maps the ids of alerts to alerts as JSON. */
const alertsKey = '{intake}:alerts'
const storedAlerts = { key: alertsKey, isForGateways: false }

/**
 * @param options.who who makes the changes, for the journal
 */
export function createAlertStore({ redis, who = '' }: { redis: Redis; who?: string }): AlertStore {
  const read = async () => new Map(await readInstallationHash(redis, alertsKey))

  return {
    async add(choice) {
      await read()
      const { bundle, event, versionName, condition, threshold, unit, minutes } = choice
      const alert: Alert = {
        id: `alert_${randomBytes(6).toString('hex')}`,
        bundle,
        event,
        versionName,
        condition,
        threshold,
        unit,
        minutes,
        createdAt: new Date().toISOString(),
        createdBy: who,
      }
      const added = await addField(redis, {
        hash: storedAlerts,
        field: alert.id,
        value: JSON.stringify(alert),
        max: alertsMax,
        entry: { who, action: 'alert-added', subject: alert.id, detail: alert },
      })
      return added ? alert : undefined
    },

    async remove(id) {
      const json = (await read()).get(id)
      if (json === undefined) return false
      const detail = parseAlert(json) ?? { id }
      const entry = { who, action: 'alert-removed', subject: id, detail } as const
      return removeFields(redis, { hash: storedAlerts, fields: [id], entry })
    },

    async list() {
      const { entries, unreadable } = parseEntries(await read(), parseAlert)
      return { alerts: entries, unreadable }
    },
  }
}
