import type { Alert } from '@intake/access'
import { isoTime } from '@intake/clickhouse'
import { quantity, visibleText } from '@intake/runtime'
import { applicationPath } from '../../page/views/links.ts'
import { cut, line, onPage, type Notice } from './notice.ts'

/** The change of an alert, as `intake.alert_changes` has it. */
export interface StoredAlert extends Pick<
  Alert,
  'id' | 'event' | 'condition' | 'threshold' | 'unit' | 'minutes'
> {
  bundle_identifier: string
  version_name: string
  /** How many states the alert had before. */
  change: number
  state: string
  since: string
  value: number | null
  usual: number | null
  detail: string
}

const number = (value: number) => String(Number(value.toPrecision(6)))
const window = (minutes: number) =>
  minutes % 60 === 0 ? `${minutes / 60} h` : quantity(minutes, 'minute')

/** Returns what an alert says, such as "crash: 140 in 10 minutes, more than 100". */
function describeChange(alert: StoredAlert): string {
  const { event, condition, threshold, unit, minutes, value, usual } = alert
  const share = unit === 'percent' ? ' % of the devices' : ''
  const counted = `${value === null ? 'an unknown number' : number(value)}${share} in ${window(minutes)}`
  if (condition === 'new-crash') return `crashes with a new stack trace: ${counted}`
  const limit = {
    above: `the limit is ${number(threshold)}`,
    below: `at least ${number(threshold)} are expected`,
    times: `usually ${usual === null ? 'unknown' : number(usual)}, the limit is ${number(threshold)} times that`,
  }[condition]
  return `${event}: ${counted}; ${limit}`
}

const titles: Readonly<Record<string, string>> = { firing: 'Alert', ok: 'Over' }

/** Returns the texts about the change of an alert. */
export function alertNotice(
  alert: StoredAlert,
  { pageUrl, isTest }: { pageUrl?: string | undefined; isTest: boolean },
): Notice {
  const { id, bundle_identifier: bundle, version_name: version, state, detail } = alert
  const title = isTest ? 'Test' : (titles[state] ?? state)
  return {
    app: line([`${title}:`, bundle, version]),
    text: cut(visibleText([describeChange(alert), detail].filter(Boolean).join('\n\n'))),
    facts: [line([id]), line([`since ${isoTime(alert.since)}`])],
    link: onPage(pageUrl, applicationPath(bundle)),
    label: 'alert',
  }
}

/** Returns a body for programs, with the change as `intake.alert_changes` shows it. */
export function standardAlert(alert: StoredAlert, { isTest }: { isTest: boolean }): string {
  const since = isoTime(alert.since)
  const type = isTest ? 'alert.test' : 'alert.changed'
  return JSON.stringify({ type, timestamp: since, data: { ...alert, since } })
}
