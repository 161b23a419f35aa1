import { gzipSync } from 'node:zlib'
import t from 'tap'
import { feedbackRow, startServer } from '../../../packages/schema/test/fixture.ts'
import { standardBody } from '../../src/webhook/forms/index.ts'
import { readFeedback } from '../../src/webhook/read-feedback.ts'

t.test('a notice has the columns of the feedback, and all digits of its integers', async (t) => {
  const { server, connect } = await startServer(t)
  const attachments = [{ key: 'k', content_type: 'image/png', bytes: 7, sha256: 'abc' }]
  const feedback = feedbackRow({ text: 'It "broke"\n😀', attachments })
  const device =
    '{"battery_level":12.5,"sdk_version":-9223372036854775808,"version_code":9007199254740993}'
  const line = JSON.stringify(feedback).replace('"device":{}', `"device":${device}`)
  const owner = connect(t)
  await owner.insertRows({ table: 'feedback', members: [gzipSync(line)], rows: 1 })

  const reader = connect(t, { url: server.readerUrl })
  const stored = await readFeedback(reader, feedback.id)
  const body = stored === undefined ? '' : standardBody(stored)
  const { id, bundle_identifier, device_uuid, unique_user_id, text } = feedback
  t.match(JSON.parse(body), {
    type: 'feedback.created',
    timestamp: '2026-11-21T03:00:00.123Z',
    data: {
      id,
      bundle_identifier,
      device_uuid,
      unique_user_id,
      text,
      attachments,
      email: null,
      feedback_id: null,
      time: '2026-11-21T03:00:00.123Z',
      received_at: '2026-11-21T03:00:01.000Z',
      device: { battery_level: 12.5, os: null, supported_abis: [] },
    },
  })
  t.match(body, '"sdk_version":-9223372036854775808')
  t.match(body, '"version_code":9007199254740993')
  t.equal(await readFeedback(reader, feedbackRow().id), undefined)
})
