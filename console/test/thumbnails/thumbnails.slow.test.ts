import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { attachmentKey, thumbnailKey } from '@intake/contract'
import { createMetrics } from '@intake/runtime/process'
import { logTo } from '@intake/test-kit/log-to'
import { openStore } from '@intake/test-kit/open-store'
import { ownS3 } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import {
  feedbackRow,
  insertRows,
  startServer,
  uuidV7,
} from '../../../packages/schema/test/fixture.ts'
import {
  createDecoder,
  DecoderEndedError,
  DecoderMissingError,
  type Decoder,
} from '../../src/thumbnails/decoder-process.ts'
import { startThumbnails } from '../../src/thumbnails/thumbnails.ts'
import { createTestClock } from '@intake/test-kit/test-clock'

const { server, connect } = await startServer(t)
const owner = connect(t)
const reader = connect(t, { url: server.readerUrl })
const store = connect(t, { url: server.workerUrl })
const s3 = await ownS3(t)
const objects = openStore(t, s3.url)
await objects.ensureBucket()

const photo = readFileSync(new URL('../../../test/images/photo.jpg', import.meta.url))
interface Picture {
  body: Buffer
  contentType?: string
}

/** Creates a feedback that has just arrived with these pictures. */
function feedbackWith(pictures: readonly Picture[], fields: object = {}) {
  const time = new Date().toISOString()
  const id = uuidV7(time)
  const attachments = pictures.map(({ body, contentType = 'image/jpeg' }, index) => {
    const sha256 = createHash('sha256').update(body).digest('hex')
    const extension = contentType.slice('image/'.length).replace('jpeg', 'jpg')
    const key = attachmentKey({ id, time, number: index + 1, sha256, extension })
    return { key, content_type: contentType, bytes: body.length, sha256 }
  })
  return feedbackRow({ id, time, received_at: time, attachments, ...fields }) as unknown as {
    id: string
    attachments: typeof attachments
  }
}

/** Stores a feedback with pictures as gateway and worker would. */
async function addFeedback(
  pictures: readonly Picture[] = [{ body: photo }],
): Promise<{ id: string; keys: string[] }> {
  const row = feedbackWith(pictures)
  for (const [index, { key, content_type: contentType, sha256 }] of row.attachments.entries())
    await objects.put({ key, body: pictures[index]!.body, contentType, sha256 })
  await insertRows(owner, 'feedback', [row])
  return { id: row.id, keys: row.attachments.map(({ key }) => key) }
}

interface Facts {
  key: string
  width: number | null
  height: number | null
  thumbnail_key: string | null
  error: string | null
}
async function factsOf(id: string): Promise<Facts[]> {
  const [row] = await reader.query<{ attachments: Facts[] }>(
    'SELECT attachments FROM intake.feedback WHERE id = {id:UUID}',
    { id },
  )
  return row?.attachments ?? []
}
const isExamined = ({ thumbnail_key, error }: Facts) => thumbnail_key !== null || error !== null
/** @param clock is advanced meanwhile, which skips the pauses */
const untilExamined = (id: string, clock?: ReturnType<typeof createTestClock>) =>
  until('its pictures were examined', async () => {
    await clock?.advance(60_000)
    const facts = await factsOf(id)
    return facts.length > 0 && facts.every(isExamined) && facts
  })

function start(t: Test, options: Partial<Parameters<typeof startThumbnails>[0]> = {}) {
  const lines: string[] = []
  const errors: unknown[] = []
  const metrics = createMetrics()
  const thumbnails = startThumbnails({
    reader,
    store,
    objects,
    metrics,
    log: logTo((line) => void lines.push(line)),
    onError: (error) => errors.push(error),
    decoder: createDecoder({ timeoutMs: 120_000 }),
    ...options,
  })
  t.teardown(() => thumbnails.close())
  return { thumbnails, lines, errors, metrics }
}

const decoderOf = (examine: Decoder['examine'], end = () => {}): Decoder => ({
  confinement: () => undefined,
  examine,
  end,
})

/** Creates a decoder that fails with `error` as often as `times` says, then returns an error. */
function failing(error: Error, times = Infinity): Decoder & { asked: number } {
  const decoder = {
    ...decoderOf(async () => {
      if (++decoder.asked <= times) throw error
      return { width: 1, height: 1, error: 'format' as const }
    }),
    asked: 0,
  }
  return decoder
}

t.test('pictures that are there when a worker starts get thumbnails, and facts', async (t) => {
  const heic = { body: Buffer.from('no heic'), contentType: 'image/heic' }
  const { id, keys } = await addFeedback([{ body: photo }, heic])
  const { metrics } = start(t)
  const facts = await untilExamined(id)
  const [key = '', other = ''] = keys
  t.match(facts, [
    { key, width: 360, height: 640, thumbnail_key: thumbnailKey(key), error: null },
    { key: other, width: null, height: null, thumbnail_key: null, error: 'unreadable' },
  ])
  const thumbnail = await objects.get(thumbnailKey(key))
  t.equal(thumbnail?.toString('latin1', 8, 12), 'WEBP')
  t.equal(await objects.get(thumbnailKey(other)), undefined)
  t.match(await metrics.metrics(), /intake_thumbnails_total\{outcome="made"\} 1/)
})

t.test('feedback that arrives gets its thumbnails without waiting for a poll', async (t) => {
  const { thumbnails } = start(t)
  const { id } = await addFeedback()
  thumbnails.arrived()
  const [fact] = await untilExamined(id)
  t.ok(fact?.thumbnail_key)
})

t.test('several workers at once store the same facts', async (t) => {
  const added = await Promise.all([1, 2, 3].map(() => addFeedback()))
  const workers = [start(t), start(t)]
  for (const { id, keys } of added) {
    const [fact] = await untilExamined(id)
    t.equal(fact?.thumbnail_key, thumbnailKey(keys[0] ?? ''))
    t.ok(await objects.get(fact?.thumbnail_key ?? ''))
  }
  for (const { errors } of workers) t.same(errors, [])
})

t.test('the decoder killed again and again: no row is affected, and thumbnails come', async (t) => {
  const before = await owner.query('SELECT * FROM intake.feedback_raw ORDER BY id')
  const added = []
  for (let n = 0; n < 3; n++) added.push(await addFeedback())
  const decoder = createDecoder({ timeoutMs: 120_000 })
  let kills = 0
  const killed = decoderOf(async (bytes, request) => {
    if (kills++ < 3) throw new DecoderEndedError('it was killed')
    return decoder.examine(bytes, request)
  }, decoder.end)
  const clock = createTestClock()
  const { errors } = start(t, { decoder: killed, clock })
  for (const { id } of added)
    t.match(await untilExamined(id, clock), [{ thumbnail_key: String }], id)
  t.ok(kills > 3)
  t.same(errors, [])
  const after = await owner.query('SELECT * FROM intake.feedback_raw ORDER BY id')
  t.equal(after.length, before.length + 3)
  const old = after.filter((row) => before.some(({ id }) => id === row['id']))
  t.same(old, before)
})

const ended = new DecoderEndedError('it ended')
const undecodable = { width: 1, height: 1, error: 'undecodable' } as const

for (const [what, result, fact] of [
  ['ends the decoder', ended, { width: null, error: 'decoder_ended' }],
  ['the decoder refuses', undecodable, { width: 1, error: 'undecodable' }],
] as const) {
  t.test(`a picture that ${what} is tried three times, then that is its fact`, async (t) => {
    const { id } = await addFeedback()
    const clock = createTestClock()
    let asked = 0
    const decoder = decoderOf(async () => {
      asked++
      if (result instanceof Error) throw result
      return result
    })
    start(t, { decoder, clock })
    await until('it was tried once', () => asked === 1)
    t.notOk((await factsOf(id)).every(isExamined), 'no fact yet')
    t.match(await untilExamined(id, clock), [fact])
    t.equal(asked, 3)
  })
}

t.test('an object that is missing is an error of its picture', async (t) => {
  const { id, keys } = await addFeedback()
  await objects.remove(keys)
  const clock = createTestClock()
  start(t, { clock })
  t.match(await untilExamined(id, clock), [{ error: 'missing' }])
})

t.test('an object store that fails decides nothing', async (t) => {
  const { id } = await addFeedback()
  const clock = createTestClock()
  let failures = 2
  const unreliable = {
    ...objects,
    async put(object: Parameters<typeof objects.put>[0]) {
      if (failures-- > 0) throw new Error('no store')
      return objects.put(object)
    },
  }
  const { errors } = start(t, { objects: unreliable, clock })
  t.match(await untilExamined(id, clock), [{ error: null, thumbnail_key: String }])
  t.equal(errors.length, 2)
})

t.test('an object that cannot be read does not hold up older pictures', async (t) => {
  const older = await addFeedback()
  const archived = await addFeedback()
  const clock = createTestClock()
  const partly = {
    ...objects,
    async get(key: string) {
      if (key === archived.keys[0]) throw new Error('403 InvalidObjectState')
      return photo
    },
  }
  const { errors } = start(t, { objects: partly, clock })
  await until('the older one was examined', async () => {
    await clock.advance(0)
    return (await factsOf(older.id)).every(isExamined)
  })
  t.match(errors, [{ message: '403 InvalidObjectState' }], 'it is not tried again at once')
  t.match(await factsOf(archived.id), [{ error: null, thumbnail_key: null }], 'nor given up')
  await owner.command('TRUNCATE TABLE intake.feedback_raw')
})

t.test('a worker that closes stores nothing more, also at the last attempt', async (t) => {
  const { id } = await addFeedback()
  const clock = createTestClock()
  let asked = 0
  let close = () => Promise.resolve()
  const ending = decoderOf(async () => {
    // Closes the worker during the third attempt, which is the last one. Closing ends the decoder.
    if (++asked === 3) void close()
    throw new DecoderEndedError('killed')
  })
  const { thumbnails } = start(t, { decoder: ending, clock })
  let closed: Promise<void> | undefined
  close = () => (closed = thumbnails.close())
  await until('it closes', async () => {
    await clock.advance(60_000)
    return closed !== undefined
  })
  await closed
  t.match(await factsOf(id), [{ error: null }])
  await owner.command('TRUNCATE TABLE intake.feedback_raw')
})

/** Stores feedback that has just arrived, each with one picture. */
async function addMany(
  t: Test,
  count: number,
  fields: object,
): Promise<{ id: string; key: string }[]> {
  const body = Buffer.from('a picture')
  const rows = Array.from({ length: count }, () => feedbackWith([{ body }], fields))
  await insertRows(owner, 'feedback', rows)
  t.teardown(() => owner.command('TRUNCATE TABLE intake.feedback_raw'))
  return rows.map(({ id, attachments }) => ({ id, key: attachments[0]!.key }))
}

/** Creates an object store that has every picture, and notes in which order pictures are read. */
function noting() {
  const read: string[] = []
  const get = async (key: string) => {
    read.push(key)
    return photo
  }
  return { read, noted: { ...objects, get } }
}

t.test('the pictures of one application do not delay those of others', async (t) => {
  const flooding = { bundle_identifier: 'com.example.flood', api_key_id: 'key-flood' }
  const [innocent] = await addMany(t, 1, { bundle_identifier: 'com.example.a', api_key_id: 'a' })
  const [sibling] = await addMany(t, 1, { ...flooding, bundle_identifier: 'com.example.b' })
  await addMany(t, 3_000, flooding)
  const { read, noted } = noting()
  start(t, { objects: noted, decoder: failing(new Error(), 0) })
  await until('some were read', () => read.length >= 5)
  const first = read.slice(0, 5)
  t.ok(first.includes(innocent?.key ?? ''), 'of another API key')
  t.ok(first.includes(sibling?.key ?? ''), 'of another application of the same key')
  t.ok(first.some((key) => key !== innocent?.key && key !== sibling?.key))
})

t.test('a picture that arrives while many wait, or fail, has its turn soon', async (t) => {
  await addMany(t, 200, { bundle_identifier: 'com.example.flood', api_key_id: 'key-flood' })
  const { read, noted } = noting()
  const clock = createTestClock()
  let arrived: { key: string }[] = []
  // Every picture takes six seconds, and then fails.
  const slow = decoderOf(async () => {
    await clock.advance(6_000)
    if (read.length === 20) {
      arrived = await addMany(t, 1, { bundle_identifier: 'com.example.c', api_key_id: 'key-c' })
      thumbnails.arrived()
    }
    throw new DecoderEndedError('it took too long')
  })
  const { thumbnails } = start(t, { objects: noted, decoder: slow, clock })
  await until('it was read', () => read.includes(arrived[0]?.key ?? ''))
  const place = read.indexOf(arrived[0]?.key ?? '')
  t.ok(place <= 30, `${place - 20} pictures later`)
})

t.test('without sharp the worker says so once, and asks nothing more', async (t) => {
  const { id } = await addFeedback()
  const clock = createTestClock()
  const decoder = failing(new DecoderMissingError('Could not load the "sharp" module'))
  const { thumbnails, lines, errors } = start(t, { decoder, clock })
  t.equal(thumbnails.missing(), undefined)
  await until('it was tried', () => lines.length > 0)
  t.equal(thumbnails.missing(), 'sharp cannot be loaded')
  thumbnails.arrived()
  await clock.advance(2 * 60 * 60_000)
  t.equal(decoder.asked, 1)
  t.equal(lines.length, 1)
  t.match(lines[0], /pictures get no thumbnails: sharp cannot be loaded/)
  t.same(errors, [])
  t.notOk((await factsOf(id)).some(isExamined))
  start(t, { decoder: failing(new Error(), 0) })
  await untilExamined(id)
})

t.test('feedback that is erased while its picture is decoded gets no facts', async (t) => {
  const { id, keys } = await addFeedback()
  const decoder = createDecoder({ timeoutMs: 120_000 })
  let wasErased = false
  const erasing = decoderOf(async (bytes, request) => {
    const examined = await decoder.examine(bytes, request)
    await owner.insertSelect(
      `INSERT INTO intake.feedback_raw (bundle_identifier, time, id, device_uuid, ver, is_deleted)
       SELECT bundle_identifier, time, id, device_uuid, 18446744073709551615, 1
       FROM intake.feedback_raw WHERE id = {id:UUID} LIMIT 1`,
      { id },
    )
    wasErased = true
    return examined
  }, decoder.end)
  start(t, { decoder: erasing })
  await until('it was erased', () => wasErased)
  const { id: next } = await addFeedback()
  start(t)
  await untilExamined(next)
  t.equal(await objects.get(thumbnailKey(keys[0] ?? '')), undefined)
  const sql = 'SELECT count() AS n FROM intake.attachments_raw WHERE id = {id:UUID}'
  t.same(await owner.query(sql, { id }), [{ n: 0 }])
})

t.test('facts about other objects are not those of the attachments', async (t) => {
  const { id } = await addFeedback()
  await owner.insertSelect(
    `INSERT INTO intake.attachments_raw (bundle_identifier, time, id, device_uuid, facts)
     SELECT bundle_identifier, time, id, device_uuid, [('another', 1, 1, 'another', NULL)]
     FROM intake.feedback_raw WHERE id = {id:UUID}`,
    { id },
  )
  t.notOk((await factsOf(id)).some(isExamined))
  start(t)
  t.match(await untilExamined(id), [{ width: 360 }])
})

t.test('the facts about older pictures may be more than fit into memory', async (t) => {
  await owner.command(
    `INSERT INTO intake.feedback_raw (id, time, received_at, bundle_identifier, device_uuid)
     SELECT dateTimeToUUIDv7(now() - 7200 - number) AS id, UUIDv7ToDateTime(id, 'UTC') AS time, time,
       'com.example.other', id FROM numbers(300000)`,
  )
  await owner.command(
    `INSERT INTO intake.attachments_raw (id, time, bundle_identifier, device_uuid, facts)
     SELECT id, time, bundle_identifier, device_uuid,
       arrayMap(n -> (repeat('k', 200), 1, 1, 't', NULL), range(5))
     FROM intake.feedback_raw WHERE bundle_identifier = 'com.example.other'`,
  )
  const { id } = await addFeedback()
  start(t)
  t.match(await untilExamined(id), [{ error: null }])
})
