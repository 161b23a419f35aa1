import { randomBytes } from 'node:crypto'
import { readInstallationHash, type Redis } from '@intake/redis'
import { journalKey, printEntry } from '../journal/journal.ts'
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

/** Checks the limit and adds the alert in one step, with its entry in the journal. */
const addScript = `
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[4])
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`
const removeScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[2])
return redis.call('HDEL', KEYS[1], ARGV[1])`

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
      const entry = printEntry({ who, action: 'alert-added', subject: alert.id, detail: alert })
      const added = await redis.eval(
        addScript,
        2,
        alertsKey,
        journalKey,
        alert.id,
        JSON.stringify(alert),
        alertsMax,
        entry,
      )
      return added === 1 ? alert : undefined
    },

    async remove(id) {
      const json = (await read()).get(id)
      if (json === undefined) return false
      const detail = parseAlert(json) ?? { id }
      const entry = printEntry({ who, action: 'alert-removed', subject: id, detail })
      return (await redis.eval(removeScript, 2, alertsKey, journalKey, id, entry)) === 1
    },

    async list() {
      const stored = await read()
      const alerts: Alert[] = []
      const unreadable: string[] = []
      for (const [id, json] of stored) {
        const alert = parseAlert(json)
        if (alert?.id === id) alerts.push(alert)
        else unreadable.push(id)
      }
      return { alerts: alerts.toSorted((a, b) => compare(a.createdAt, b.createdAt)), unreadable }
    },
  }
}

const compare = (a: string, b: string) => Number(a > b) - Number(a < b)
