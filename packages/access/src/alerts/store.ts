import { readInstallationHash, type Redis } from '@intake/redis'
import { addEntry, parseEntries, removeEntry } from '../entries.ts'
import { alertsMax, parseAlert, type Alert, type AlertChoice } from './alert.ts'

export type AlertStore = ReturnType<typeof createAlertStore>

/** The key of a Redis hash that maps the ids of alerts to alerts as JSON. */
const stored = { key: '{intake}:alerts', isForGateways: false }

/**
 * Creates the store of alerts, in Redis beside the rules. Every method rejects if Redis has lost
 * its data.
 *
 * @param options.who who makes the changes, for the journal
 */
export function createAlertStore({ redis, who = '' }: { redis: Redis; who?: string }) {
  return {
    /** Adds an alert, which must be valid; resolves to undefined when there are `alertsMax`. */
    add: (choice: AlertChoice): Promise<Alert | undefined> =>
      addEntry(redis, { hash: stored, kind: 'alert', choice, max: alertsMax, who }),

    /** Resolves to false if there was no such alert. */
    async remove(id: string): Promise<boolean> {
      const options = { hash: stored, kind: 'alert', id, parse: parseAlert, who } as const
      return (await removeEntry(redis, options)) !== undefined
    },

    /** Resolves to the alerts, oldest first, and to the ids of those that cannot be read. */
    async list(): Promise<{ alerts: Alert[]; unreadable: string[] }> {
      const json = await readInstallationHash(redis, stored.key)
      const { entries, unreadable } = parseEntries(json, parseAlert)
      return { alerts: entries, unreadable }
    },
  }
}
