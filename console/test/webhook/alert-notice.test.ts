import t from 'tap'
import { alertNotice, type StoredAlert } from '../../src/webhook/forms/alert.ts'

const alert: StoredAlert = {
  id: 'alert_1',
  bundle_identifier: 'com.example.app',
  event: 'crash',
  version_name: '',
  condition: 'above',
  threshold: 100,
  unit: 'events',
  minutes: 10,
  change: 0,
  state: 'firing',
  since: '2026-11-26 09:14:00.000',
  value: 140,
  usual: null,
  detail: '',
}

t.test('a notice names the window of its alert', async (t) => {
  for (const [minutes, window] of [
    [1, '1 minute'],
    [10, '10 minutes'],
    [60, '1 h'],
    [90, '90 minutes'],
  ] as const) {
    const { text } = alertNotice({ ...alert, minutes }, { isTest: false })
    t.equal(text, `crash: 140 in ${window}; the limit is 100`)
  }
})

t.test('a notice says what happened, and what is expected', async (t) => {
  const noticeOf = (changes: Partial<StoredAlert>, isTest = false) =>
    alertNotice({ ...alert, ...changes }, { isTest })
  const times = { condition: 'times', threshold: 3, usual: 7 } as const
  t.equal(noticeOf(times).text, 'crash: 140 in 10 minutes; usually 7, the limit is 3 times that')
  const share = { condition: 'below', unit: 'percent', threshold: 1, value: 0.25 } as const
  const few = 'crash: 0.25 % of the devices in 10 minutes; at least 1 are expected'
  t.equal(noticeOf(share).text, few)
  t.equal(noticeOf({}).app, 'Alert: com.example.app')
  t.equal(noticeOf({ state: 'ok' }).app, 'Over: com.example.app')
  t.equal(noticeOf({}, true).app, 'Test: com.example.app')
})

t.test('a notice links the application, even if its name is that of a folder', async (t) => {
  const pageUrl = 'https://page.example.com/'
  for (const [bundle_identifier, path] of [
    ['com.example.app', 'com.example.app'],
    ['..', '=..'],
  ] as const) {
    const { link } = alertNotice({ ...alert, bundle_identifier }, { pageUrl, isTest: false })
    t.equal(link, `https://page.example.com/applications/${path}`)
  }
})
