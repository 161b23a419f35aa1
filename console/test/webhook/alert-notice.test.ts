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
}

const described = '--bundle com.example.app --event crash --above 100 --in 10m'

t.test('a notice says what was counted, for which alert', async (t) => {
  const noticeOf = (changes: Partial<StoredAlert>, isTest = false) =>
    alertNotice({ ...alert, ...changes }, { isTest })
  t.match(noticeOf({}), {
    app: 'Alert: com.example.app',
    text: `140 in the window\n\n${described}`,
    facts: ['alert_1', 'since 2026-11-26T09:14:00.000Z'],
  })
  t.equal(noticeOf({ state: 'ok' }).app, 'Over: com.example.app')
  t.equal(noticeOf({}, true).app, 'Test: com.example.app')
  const times = { condition: 'times', threshold: 3, value: 22.25, usual: 7 } as const
  t.match(noticeOf(times).text, /^22.25 in the window, usually 7\n.*--times 3/s)
  const share = { condition: 'below', unit: 'percent', threshold: 1, value: 0.25 } as const
  t.match(noticeOf(share).text, /^0.25% in the window\n.*--below 1%/s)
  const crash = { condition: 'new-crash', event: '' } as const
  t.match(noticeOf(crash).text, /--new-crash --in 10m$/)
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
