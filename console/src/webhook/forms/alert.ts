import { describeAlert, describeFound, type Alert } from '@intake/access'
import { isoTime } from '@intake/clickhouse'
import { visibleText } from '@intake/runtime'
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
}

/** Returns the texts about the change of an alert. */
export function alertNotice(
  alert: StoredAlert,
  { pageUrl, isTest }: { pageUrl?: string | undefined; isTest: boolean },
): Notice {
  const { id, bundle_identifier: bundle, version_name: versionName, state, since } = alert
  const title = state === 'firing' ? 'Alert' : 'Over'
  const texts = [describeFound(alert, alert), describeAlert({ ...alert, bundle, versionName })]
  return {
    app: line([isTest ? 'Test:' : `${title}:`, bundle]),
    text: cut(visibleText(texts.join('\n\n'))),
    facts: [line([id]), line([`since ${isoTime(since)}`])],
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
