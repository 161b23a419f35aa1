import { readInstallationHash, type Redis } from '@intake/redis'
import { quoteWord } from '@intake/runtime'
import { addEntry, parseEntries, parseEntry, removeEntry, type Entry } from './entries.ts'

/** The part of an alert that an operator chooses. */
export interface AlertChoice {
  /** One application. */
  bundle: string
  /** Name of the event; empty for `new-crash`. */
  event: string
  /** Only events of this `device.version_name`; empty: of all versions. */
  versionName: string
  /**
   * When it fires: more or fewer than `threshold` in the window; more than `threshold` times what is
   * usual at this time of the day; or a crash with a new fingerprint.
   */
  condition: 'above' | 'below' | 'times' | 'new-crash'
  threshold: number
  /** `percent`: of the devices that sent any event in the window. */
  unit: 'events' | 'percent'
  /** Length of the window. */
  minutes: number
}

/** What an operator wants to be told about an application. An alert never changes. */
export type Alert = AlertChoice & Entry

/** The maximum number of alerts in an installation. */
export const alertsMax = 200

/** Prints an alert in one line, as the arguments of `intake alerts add` that would add it again. */
export function describeAlert(alert: AlertChoice): string {
  const { bundle, event, versionName, condition, threshold, unit, minutes } = alert
  const words = [
    ['--bundle', bundle],
    event === '' ? [] : ['--event', event],
    versionName === '' ? [] : ['--version-name', versionName],
    condition === 'new-crash'
      ? ['--new-crash']
      : [`--${condition}`, `${threshold}${unit === 'percent' ? '%' : ''}`],
    ['--in', minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`],
  ]
  return words
    .flat()
    .map((word) => quoteWord(word))
    .join(' ')
}

/** Describes what was counted for an alert. */
export function describeFound(
  { unit }: Pick<Alert, 'unit'>,
  { value, usual }: Record<'value' | 'usual', number | null>,
): string {
  const number = (found: number) =>
    `${Number(found.toPrecision(6))}${unit === 'percent' ? '%' : ''}`
  const counted = value === null ? 'the number is not known' : `${number(value)} in the window`
  return usual === null ? counted : `${counted}, usually ${number(usual)}`
}

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
