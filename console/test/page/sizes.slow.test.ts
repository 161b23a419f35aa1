import t from 'tap'
import { atTime, feedbackRow, logRow } from '../../../packages/schema/test/fixture.ts'
import { ago, calmState, linksIn, startRowStore, view } from './fixture.ts'

const { insert, refresh, startReaderPage } = await startRowStore(t)
const bytesMax = 300_000

/** Texts of the most characters that a client may send. A character takes 12 bytes in a link. */
const long = { visible: '𠀀'.repeat(255), invisible: '\u202e'.repeat(255) }

t.test('no view has more than 300 KB, whatever clients send', async (t) => {
  for (const [name, text] of Object.entries(long)) {
    const application = `com.example.${name}`
    const rows = Array.from({ length: 60 }, (_, n) => ({
      ...atTime(ago(60 + n)),
      bundle_identifier: application,
      unique_user_id: text,
      device: { version_name: `${text.slice(0, 240)}${n % 9}`, os: text, device_model: text },
    }))
    const params = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`${n}${text.slice(0, 20)}`, text.slice(0, 30)]),
    )
    await insert(
      'logs',
      rows.map((row, n) => logRow({ ...row, event: `${text.slice(0, 250)}${n % 20}`, params })),
    )
    await insert(
      'feedback',
      rows.map((row) => feedbackRow({ ...row, text: text.repeat(70), email: text, extra: params })),
    )
    await refresh()
    const { url } = await startReaderPage(t, { state: calmState })
    const user = new URLSearchParams({ app: application, user: text }).toString()
    const paths = [
      '/',
      `/applications/${application}`,
      `/applications/${application}?tab=catalogue`,
      ...['/events', '/live', '/feedback'].flatMap((path) => [
        `${path}?app=${application}`,
        `${path}?${user}`,
        `${path}?${user}&period=7d`,
      ]),
      `/live/rows?app=${application}&since=0`,
      `/search?q=example.${name}`,
      `/search?${new URLSearchParams({ q: text.slice(0, 40) }).toString()}`,
    ]
    const first = await view(url, `/events?app=${application}`)
    const record = linksIn(first.text, '/events').find((link) => link.startsWith('/events/'))
    for (const path of [...paths, record ?? '']) {
      const { status, text: body } = await view(url, path)
      t.equal(status, 200, path.slice(0, 60))
      const bytes = Buffer.byteLength(body)
      t.ok(bytes <= bytesMax, `${path.slice(0, 60)}: ${bytes} bytes`)
    }
  }
})
