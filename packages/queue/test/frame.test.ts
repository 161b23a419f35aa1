import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createFrame, FrameError, openFrame } from '@intake/queue'
import { compress, decompress } from '@intake/queue/frame'

const rows = '{"a":1}\n'
const gzip = { coding: 'gzip', bytes: gzipSync(rows) } as const
/** The same rows, compressed by Node 26. */
const zstd = {
  coding: 'zstd',
  bytes: Buffer.from('KLUv/SAIQQAAeyJhIjoxfQo=', 'base64'),
} as const

t.test('a frame of either coding is unchanged after a round trip through JSON', async (t) => {
  for (const compressed of [gzip, zstd, compress(rows)]) {
    const frame = { rows: 1, jsonBytes: 8, ...compressed }
    const data: unknown = JSON.parse(JSON.stringify(createFrame(frame)))
    t.same(openFrame(data), frame)
    t.equal(decompress(frame).toString(), rows)
  }
})

t.test('every Node decompresses large zstd frames, and detects cut ones', async (t) => {
  const large = Array.from(
    { length: 20_000 },
    (_, n) => `{"n":${n},"m":${(n * 7919) % 1e6}}\n`,
  ).join('')
  const compressed = compress(Buffer.from(large))
  t.equal(decompress(compressed).toString(), large)
  for (const { coding, bytes } of [gzip, zstd, compressed]) {
    t.throws(() => decompress({ coding, bytes: bytes.subarray(0, -3) }))
    t.throws(() => decompress({ coding, bytes: Buffer.from('neither') }))
  }
})

t.test('a frame of gzip is what versions without other codings write and read', async (t) => {
  t.match(createFrame({ rows: 1, jsonBytes: 8, ...gzip }), {
    v: 2,
    gzip: gzip.bytes.toString('base64'),
  })
  t.notOk('gzip' in createFrame({ rows: 1, jsonBytes: 8, ...zstd }), 'they keep other frames')
})

t.test('a frame names its trace, and is read without one or with what else is there', async (t) => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const frame = { rows: 1, jsonBytes: 8, ...gzip }
  const traced = createFrame({ ...frame, traceparent })
  t.same(openFrame(traced), { ...frame, traceparent })
  t.same(openFrame({ ...traced, traceparent: 1 }), frame)
  t.same(openFrame({ ...createFrame(frame), ofANewerVersion: 'x' }), frame)
  t.notOk('traceparent' in createFrame({ ...frame, traceparent: undefined }))
})

t.test('an unknown version, missing fields and changed bytes are no frame', async (t) => {
  const good = createFrame({ rows: 1, jsonBytes: 8, ...gzip })
  const bad: unknown[] = [
    null,
    'text',
    {},
    { ...good, v: 1 },
    { ...good, jsonBytes: undefined },
    { ...good, rows: undefined },
    { ...good, gzip: undefined },
    { ...good, gzip: undefined, brotli: good.gzip },
    { ...good, gzip: gzipSync('{"a":2}\n').toString('base64') },
  ]
  for (const data of bad) t.throws(() => openFrame(data), FrameError)
})
