import { quoteWord } from '@intake/runtime'
import { parseEntry, type Entry } from '../entries.ts'
import { textLengthMax } from '../rules/conditions.ts'

/**
 * When an alert fires: more or fewer than `threshold` in the window; more than `threshold` times
 * what is usual at this time of the day; or a crash with a new fingerprint.
 */
const conditions = ['above', 'below', 'times', 'new-crash'] as const

/** The part of an alert that an operator chooses. */
export interface AlertChoice {
  /** One application. */
  bundle: string
  /** Name of the event; empty for `new-crash`. */
  event: string
  /** Only events of this `device.version_name`; empty: of all versions. */
  versionName: string
  condition: (typeof conditions)[number]
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
const minutesMax = 24 * 60
/** Devices are counted anew at each evaluation, so their window is shorter. */
const percentMinutesMax = 60

/** Describes why an alert may not be added, as a sentence for an operator; undefined if it may. */
export function findAlertProblem(alert: AlertChoice): string | undefined {
  const { bundle, event, versionName, condition, threshold, unit, minutes } = alert
  if (![bundle, event, versionName].every(isText)) {
    return `Names are texts of at most ${textLengthMax} characters.`
  }
  if (bundle === '') return 'An alert is about one application: give --bundle.'
  if (bundle.includes('*')) {
    return 'An alert is about one application; it takes no pattern such as com.example.*.'
  }
  if (condition === 'new-crash' && (event !== '' || versionName !== '')) {
    return '--new-crash is about events named crash of all versions.'
  }
  if (condition !== 'new-crash' && event === '') return 'Give --event, or --new-crash.'
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > minutesMax) {
    return 'The window is from 1m to 24h.'
  }
  if (unit === 'percent') {
    if (minutes > percentMinutesMax) return 'A share of devices has a window of at most 1h.'
    if (threshold > 100) return 'A share of devices is at most 100%.'
  }
  if (!Number.isFinite(threshold) || threshold < 0) return 'The number must not be negative.'
  if (condition === 'below' && threshold === 0) return 'Nothing is below 0; silence is --below 1.'
  if (condition === 'times' && threshold <= 1) return '--times must be more than 1, such as 3.'
  return undefined
}

const isText = (value: unknown) => typeof value === 'string' && value.length <= textLengthMax

/**
 * Reads a stored alert; undefined if it cannot be read, for example because a later version of
 * Intake wrote it.
 */
export function parseAlert(json: string): Alert | undefined {
  const alert = parseEntry('alert', json) as Alert | undefined
  if (alert === undefined || !conditions.includes(alert.condition)) return undefined
  if (alert.unit !== 'events' && alert.unit !== 'percent') return undefined
  return findAlertProblem(alert) === undefined ? alert : undefined
}

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
