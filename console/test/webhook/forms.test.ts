import t from 'tap'
import type { WebhookReceiver } from '@intake/config'
import { writeFeedback } from '../../src/webhook/forms/index.ts'
import type { StoredFeedback } from '../../src/webhook/read-feedback.ts'

const feedback: StoredFeedback = {
  id: '019aaaaa-0000-7000-8000-000000000001',
  time: '2026-11-26T08:00:00.123Z',
  received_at: '2026-11-26T08:00:01.000Z',
  bundle_identifier: 'com.example.app',
  device_uuid: '6f9619ff-8b86-4d01-b42d-00c04fc964ff',
  unique_user_id: 'user-1',
  feedback_id: null,
  email: 'user@example.com',
  text: 'It broke.\nTwice.',
  attachments: ['k1', 'k2'].map((key) => ({
    key,
    content_type: 'image/png',
    bytes: 1,
    sha256: 'a',
  })),
  device:
    '{"os":"Android","android_version":"15","device_brand":"google","device_model":"Pixel 8","version_code":42,"version_name":"1.4.2","is_emulator":null}',
}
const pageUrl = 'https://intake.example/'
const link =
  'https://intake.example/feedback/019aaaaa-0000-7000-8000-000000000001?device=6f9619ff-8b86-4d01-b42d-00c04fc964ff&application=com.example.app'
type WebhookForm = NonNullable<WebhookReceiver['form']>

const chats: WebhookForm[] = ['slack', 'teams', 'github']

const write = (form: WebhookForm, changes: Partial<StoredFeedback> = {}, options: object = {}) =>
  writeFeedback({ ...feedback, ...changes }, { form, pageUrl, ...options })

/** Returns all texts of a document, in their order. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

t.test('people read text, version, device, pictures, and where the record is', async (t) => {
  for (const form of chats) {
    const said = textsOf(JSON.parse(write(form))).join('\n')
    const parts = ['It broke.', 'Twice.', 'google Pixel 8', 'Android 15', '2 pictures', link]
    for (const part of ['com.example.app 1.4.2 (42)', ...parts])
      t.ok(said.includes(part), `${form}: ${part}`)
  }
})

t.test('people read a version code of 64 bits as it was sent', async (t) => {
  const device = '{"version_code":9007199254740993}'
  for (const form of chats) t.match(write(form, { device }), '(9007199254740993)', form)
})

t.test('the e-mail is in no chat unless the operator shows it, and can be hidden', async (t) => {
  for (const form of chats) {
    t.notMatch(write(form), 'user@example.com', form)
    t.match(write(form, {}, { email: 'show' }), 'example.com', form)
  }
  t.match(JSON.parse(write('standard')), { data: { email: 'user@example.com' } })
  t.match(JSON.parse(write('standard', {}, { email: 'hide' })), { data: { email: null } })
})

t.test('a text of a client mentions nobody and is no link', async (t) => {
  const text =
    'Hi <!channel> @here <https://evil.example|bank> [bank](https://evil.example)\n```\n@octocat #1'
  const slack = JSON.parse(write('slack', { text })) as {
    text: string
    blocks: { type: string; text: object }[]
  }
  t.notMatch(slack.text, /[<>]/)
  t.match(slack.blocks[1], { type: 'section', text: { type: 'plain_text', text } })
  const teams = textTypes(JSON.parse(write('teams', { text })))
  t.notOk(teams.includes('TextBlock'))
  const github = JSON.parse(write('github', { text })) as { title: string; body: string }
  t.notMatch(github.title, /@\w|#\d/)
  const device = JSON.stringify({ version_name: 'v'.repeat(250) })
  const long = write('github', { text: '@'.repeat(100), device })
  t.ok((JSON.parse(long) as { title: string }).title.length <= 256, 'GitHub takes the title')
  t.ok(github.body.startsWith('````text\n'), 'the fence is longer than that in the text')
  t.ok(github.body.includes('\n````\n'))
})

const textTypes = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
        name === 'type' ? [String(inner)] : textTypes(inner),
      )
    : []

t.test('a text is cut where chats would refuse it, and what is invisible is shown', async (t) => {
  for (const form of chats) {
    const text = '\u{1F600}'.repeat(20_000)
    const body = write(form, { text, bundle_identifier: 'a'.repeat(255) })
    t.ok(body.length < 28_000, `${form}: ${body.length} characters`)
    t.ok(body.isWellFormed(), form)
    t.match(
      write(form, { text: 'a'.repeat(20_000) }),
      'a'.repeat(1_000),
      `${form} has its beginning`,
    )
    t.match(write(form, { text: 'a\u202Eb' }), 'U+202E', form)
  }
})

t.test('line ends of any system are line ends', async (t) => {
  for (const form of chats) {
    const said = textsOf(JSON.parse(write(form, { text: 'one\r\ntwo\rthree' })))
    t.match(said.join('|'), 'one\ntwo\nthree', form)
    t.notMatch(said.join(''), /U\+000D|\r/, form)
  }
})

t.test('a message keeps to the limits of Slack, whatever was sent', async (t) => {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').length
  for (const sent of ['\u{1F600}', '&', '<', 'a', '\u202e', '\u{1F600}&'])
    for (const length of [1, 1_499, 1_500, 2_000, 20_000]) {
      const { blocks } = JSON.parse(
        write('slack', { text: sent.repeat(length), bundle_identifier: sent.repeat(200) }),
      ) as { blocks: { type: string; text: { text: string } }[] }
      const { header, section } = Object.fromEntries(
        blocks.map(({ type, text }) => [type, text?.text]),
      )
      t.ok(escaped(section!) <= 3_000, `${sent} ${length}`)
      t.ok(section!.length >= Math.min(length, 500), 'it has the beginning')
      t.ok(escaped(header!) <= 150, sent)
      t.ok(section!.isWellFormed() && header!.isWellFormed())
    }
  t.match(write('slack', { text: 'a'.repeat(2_000) }), 'a'.repeat(2_000), 'is not cut')

  for (const text of [' ', '\n', '\u3000\u200d\t']) {
    const device = JSON.stringify({ os: ' ', device_brand: '\u200D\uFE0F' })
    const blank = { text, device, attachments: [] }
    const { blocks } = JSON.parse(write('slack', blank)) as { blocks: { type: string }[] }
    t.match(blocks, [{ type: 'header' }, { type: 'actions' }], JSON.stringify(text))
    t.equal(blocks.length, 2)
  }
  const application = '\u{1F600}'.repeat(255)
  t.notMatch(write('slack', { bundle_identifier: application }), '"actions"', 'the URL is too long')
})

t.test('what was not sent is left out, and without an address of the page the link', async (t) => {
  const empty = { device: '{"os":null,"version_code":null}', attachments: [] }
  for (const form of chats) {
    const said = textsOf(JSON.parse(write(form, empty, { pageUrl: undefined }))).join('\n')
    t.notMatch(said, /null|undefined|picture|https:\/\/intake/, form)
  }
})
