import { readInstallationHash, type Redis } from '@intake/redis'
import { addEntry, parseEntries, parseEntry, removeEntry } from '../entries.ts'
import { alertsMax, type Alert, type AlertChoice } from './alert.ts'

export type AlertStore = ReturnType<typeof createAlertStore>

/** The key of a Redis hash that maps the ids of alerts to alerts as JSON. */
const stored = { key: '{intake}:alerts', isForGateways: false }

const parse = (json: string) => parseEntry('alert', json) as Alert | undefined

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
      const options = { hash: stored, kind: 'alert', id, parse, who } as const
      return (await removeEntry(redis, options)) !== undefined
    },

    /** Resolves to the alerts, oldest first. */
    async list(): Promise<Alert[]> {
      return parseEntries(await readInstallationHash(redis, stored.key), parse).entries
    },
  }
}
