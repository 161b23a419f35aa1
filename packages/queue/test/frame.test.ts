import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createFrame, FrameError, openFrame } from '@intake/queue'

const gzip = gzipSync('{"a":1}\n')

t.test('a frame is unchanged after a round trip through JSON', async (t) => {
  const data: unknown = JSON.parse(JSON.stringify(createFrame({ rows: 1, jsonBytes: 8, gzip })))
  t.same(openFrame(data), { rows: 1, jsonBytes: 8, gzip })
})

t.test('a frame names its trace, and is read without one or with what else is there', async (t) => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const frame = { rows: 1, jsonBytes: 8, gzip }
  const traced = createFrame({ ...frame, traceparent })
  t.same(openFrame(traced), { ...frame, traceparent })
  t.same(openFrame({ ...traced, traceparent: 1 }), frame)
  t.same(openFrame({ ...createFrame(frame), ofANewerVersion: 'x' }), frame)
  t.notOk('traceparent' in createFrame({ ...frame, traceparent: undefined }))
})

t.test(
  'an unknown version, missing fields and changed bytes are not accepted as a frame',
  async (t) => {
    const good = createFrame({ rows: 1, jsonBytes: 8, gzip })
    const bad: unknown[] = [
      null,
      'text',
      {},
      { ...good, v: 1 },
      { ...good, jsonBytes: undefined },
      { ...good, rows: undefined },
      { ...good, gzip: undefined },
      { ...good, gzip: gzipSync('{"a":2}\n').toString('base64') },
    ]
    for (const data of bad) t.throws(() => openFrame(data), FrameError)
  },
)
