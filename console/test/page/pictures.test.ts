import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { thumbnailKey } from '@intake/contract'
import { heic } from '../../../packages/pictures/test/corpus/heic.ts'
import { openStore } from '@intake/test-kit/open-store'
import { ownS3 } from '@intake/test-kit/own-services'
import type { PageOptions } from '../../src/page/page.ts'
import { createSignedLinks } from '../../src/page/signed-links.ts'
import type { Attachment, RecordReader } from '../../src/page/records.ts'
import { pictures } from '../../src/page/views/pictures.ts'
import { basic, emptyReader, startPage } from './fixture.ts'

const server = await ownS3(t)
const store = openStore(t, server.url)
await store.ensureBucket()

const photo = readFileSync(new URL('../../../test/images/photo.jpg', import.meta.url))
const id = '01a1fc28-0000-7000-8000-000000000001'
const sha256Of = (body: Buffer) => createHash('sha256').update(body).digest('hex')

/** Stores a picture and returns its entry for a row. */
async function storePicture(
  options: { number?: number; body?: Buffer; stored?: Buffer; type?: string } = {},
): Promise<Attachment> {
  const { number = 1, body = photo, stored = body, type = 'image/jpeg' } = options
  const sha256 = sha256Of(body)
  const key = `feedback/2026/11/21/${id}/${number}-${sha256}.${type === 'image/jpeg' ? 'jpg' : 'heic'}`
  await store.put({ key, body: stored, contentType: 'text/html', sha256 })
  const unexamined = { width: null, height: null, thumbnail_key: null, error: null }
  return { key, content_type: type, bytes: body.length, sha256, ...unexamined }
}

/** Creates a reader with one feedback that has these pictures. */
const readerOf = (...attachments: Attachment[]): RecordReader => ({
  ...emptyReader,
  query: async <Row>() => [{ attachments }] as Row[],
})

const password = 'the password'
const withPassword = basic(password)

async function open(
  t: Test,
  attachment: Attachment,
  options: { path?: string } & Partial<PageOptions> = {},
) {
  const { path = `/attachments/${attachment.key}`, ...given } = options
  const reader = readerOf(attachment)
  const { url, lines } = await startPage(t, { password, store, reader, ...given })
  const response = await fetch(url + path, { headers: withPassword })
  return { response, lines, url }
}

t.test('a picture is shown as the type of its row, and may do nothing', async (t) => {
  const { response } = await open(t, await storePicture())
  t.equal(response.status, 200)
  t.ok(Buffer.from(await response.arrayBuffer()).equals(photo))
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'image/jpeg',
    'content-disposition': `inline; filename="${id}-1.jpg"`,
    'content-security-policy': /^default-src 'none'; .*; sandbox; /,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
})

t.test('the signed link works without the password, and nothing else does', async (t) => {
  const attachment = await storePicture()
  const { response, url } = await open(t, attachment)
  const link = response.url
  t.equal((await fetch(link)).status, 200)
  const [path = '', signature] = link.split('?')
  for (const [title, wrong] of Object.entries({
    'another picture': link.replace('/1-', '/2-'),
    'another time': link.replace(/expires=\d/, 'expires=9'),
    'without its signature': path,
    'not signed': `${url}/attachments/${attachment.key}`,
    'another view': `${url}/?${signature}`,
  }))
    t.equal((await fetch(wrong)).status, 401, title)
})

t.test('a link expires, and consoles with one password accept each other’s', async (t) => {
  let now = 1_800_000_000_000
  const links = createSignedLinks(password, 'of the consoles', () => now)
  const other = createSignedLinks(password, 'of the consoles', () => now)
  const [path = '', query] = links.sign('/pictures/feedback/x.jpg').split('?')
  const given = new URLSearchParams(query)
  t.ok(other.isValid(path, given))
  for (const [word, secret] of [
    ['another', 'of the consoles'],
    [password, 'a guess'],
    [password, undefined],
    [undefined, 'of the consoles'],
  ])
    t.notOk(createSignedLinks(word, secret, () => now).isValid(path, given), `${word}, ${secret}`)
  now += 16 * 60_000
  t.notOk(links.isValid(path, given))
})

t.test('a type that browsers do not show is a download', async (t) => {
  const { response } = await open(t, await storePicture({ body: heic, type: 'image/heic' }))
  t.match(response.headers.get('content-disposition'), /^attachment; filename="[\w-]+\.heic"/)
  await response.arrayBuffer()
})

/** Stores a thumbnail of a picture. Returns the picture's entry, which then names the thumbnail. */
async function storeThumbnail(attachment: Attachment, body: Buffer): Promise<Attachment> {
  const key = thumbnailKey(attachment.key)
  await store.put({ key, body, contentType: 'text/html', sha256: sha256Of(body) })
  return { ...attachment, width: 4_000, height: 3_000, thumbnail_key: key }
}

const links = createSignedLinks(undefined, undefined)
const sign = { path: (key: string) => links.sign(`/pictures/${key}`), keepsMetadata: false }

t.test('a list shows the thumbnail, and links it and the picture', async (t) => {
  const thumbnail = Buffer.from('RIFF....WEBP')
  const attachment = await storeThumbnail(await storePicture({ number: 6 }), thumbnail)
  const list = pictures([attachment], sign)?.toString() ?? ''
  t.match(list, `href="/attachments/${attachment.key}"`)
  t.match(list, `src="/pictures/${attachment.thumbnail_key}?expires=`)
  t.match(list, /height="160"\s+width="213"/)
  t.match(list, 'alt="Picture 1: jpg, 4000 × 3000, ')
  const one = pictures([attachment], sign, { whole: true })?.toString()
  t.match(one, `src="/pictures/${attachment.key}?expires=`, 'one feedback has it whole')

  const path = `/pictures/${attachment.thumbnail_key}`
  const { response } = await open(t, attachment, { path })
  t.equal(response.status, 200)
  t.ok(Buffer.from(await response.arrayBuffer()).equals(thumbnail))
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'image/webp',
    'content-security-policy': /sandbox/,
    'x-content-type-options': 'nosniff',
  })
})

t.test('a picture without a thumbnail is shown itself, or linked if browsers cannot', async (t) => {
  const jpeg = await storePicture()
  const shown = pictures([jpeg], sign)?.toString()
  t.match(shown, `src="/pictures/${jpeg.key}?expires=`)
  const kept = pictures([jpeg], { ...sign, keepsMetadata: true })?.toString()
  t.match(kept, /kept as they were sent, with metadata/)
  t.notMatch(shown, /metadata/)
  const other = await storePicture({ body: heic, type: 'image/heic' })
  const listed = pictures([{ ...other, width: 64, height: 48 }], sign)?.toString() ?? ''
  t.notMatch(listed, '<img')
  t.match(listed, 'Picture 1: heic, 64 × 48, 1 KB')
  const size = { width: 7_000, height: 7_000 }
  const refused = ['pixels', 'bytes', 'unreadable', 'undecodable', 'decoder_ended', 'a new error']
  for (const heavy of [
    ...refused.map((error) => ({ ...jpeg, ...size, error })),
    { ...jpeg, bytes: 5 * 1024 * 1024 },
  ]) {
    const title = heavy.error ?? 'many bytes'
    t.notMatch(pictures([heavy], sign)?.toString(), '<img', `not in a list: ${title}`)
    t.match(pictures([heavy], sign, { whole: true })?.toString(), '<img', 'but on its own page')
  }
  const avif = { ...jpeg, content_type: 'image/avif', error: 'format' }
  t.match(pictures([avif], sign)?.toString(), '<img', 'in a format without thumbnails')
})

t.test('404 for a thumbnail that the row does not name; 502 for one that is missing', async (t) => {
  const attachment = await storeThumbnail(await storePicture({ number: 7 }), Buffer.from('RIFF'))
  const path = `/pictures/${attachment.thumbnail_key}`
  const statusOf = async (entry: Attachment) => (await open(t, entry, { path })).response.status
  t.equal(await statusOf(attachment), 200)
  t.equal(await statusOf({ ...attachment, thumbnail_key: null }), 404)
  await store.remove([attachment.thumbnail_key ?? ''])
  t.equal(await statusOf(attachment), 502)
})

t.test('404 for a picture that no feedback has, even if the store has it', async (t) => {
  const attachment = await storePicture()
  for (const key of [
    attachment.key.replace('/1-', '/2-'),
    'feedback/../secret',
    'other/object.jpg',
    attachment.key.replace('7000', '4000'),
  ]) {
    const { response } = await open(t, attachment, { path: `/attachments/${key}` })
    t.equal(response.status, 404, key)
  }
  const { response } = await open(t, { ...attachment, content_type: 'text/html' })
  t.equal(response.status, 404, 'no image')
})

t.test('502, and a log line, when the object differs from the row or is missing', async (t) => {
  for (const [number, stored] of [
    Buffer.from(photo.map((byte) => byte ^ 1)),
    photo.subarray(1),
  ].entries()) {
    const attachment = await storePicture({ number: number + 3, stored })
    const { response, lines } = await open(t, attachment)
    t.equal(response.status, 502)
    t.match(await response.text(), 'not the picture that was accepted')
    t.match(lines.join(''), 'docs/operations/page-fails.md')
  }
  const missing = await storePicture({ number: 5 })
  await store.remove([missing.key])
  t.equal((await open(t, missing)).response.status, 502)
})

t.test('413 for a picture beyond the limit, which is not read', async (t) => {
  const { response } = await open(t, { ...(await storePicture()), bytes: 33 * 1024 * 1024 })
  t.equal(response.status, 413)
})

t.test('more pictures at once than have a place all arrive', async (t) => {
  const { response } = await open(t, await storePicture())
  const fetched = async () => (await (await fetch(response.url)).arrayBuffer()).byteLength
  const sizes = await Promise.all(Array.from({ length: 12 }, fetched))
  t.same(new Set(sizes), new Set([photo.length]))
})

t.test('readers who leave do not let more pictures be read at once', async (t) => {
  const attachment = await storePicture()
  let read = 0
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let begun = () => {}
  const bothRun = new Promise<void>((resolve) => (begun = resolve))
  const slow = {
    async get(key: string) {
      if (++read === 2) begun()
      await held
      return store.get(key)
    },
  }
  const { url, port } = await startPage(t, { store: slow, reader: readerOf(attachment) })
  const signed = await fetch(`${url}/attachments/${attachment.key}`, { redirect: 'manual' })
  const path = signed.headers.get('location')!
  const leaving = Array.from({ length: 6 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
    return socket
  })
  await bothRun
  await Promise.all(
    leaving.map((socket) => {
      socket.on('error', () => {})
      socket.resetAndDestroy()
      return once(socket, 'close')
    }),
  )
  const staying = fetch(`${url}${path}`)
  // These requests for a view give the server time to read more pictures. It must not read a third
  // one yet, because it reads at most two at once.
  for (let request = 0; request < 5; request++) await (await fetch(`${url}/search`)).text()
  t.equal(read, 2)
  release()
  t.equal((await (await staying).arrayBuffer()).byteLength, photo.length)
  t.equal(read, 3, 'nothing is read for those who left before their turn')
})

t.test('without a store there are no pictures', async (t) => {
  const { response } = await open(t, await storePicture(), { store: undefined })
  t.equal(response.status, 404)
})

t.test('a picture that an earlier gateway stored with metadata is shown without it', async (t) => {
  const place = Buffer.from('\xff\xfe\x00\x12N 48.8 E 2.29', 'latin1')
  place.writeUInt16BE(place.length - 2, 2)
  const body = Buffer.concat([photo.subarray(0, 2), place, photo.subarray(2), Buffer.from('film')])
  const attachment = await storePicture({ number: 3, body })
  const { response } = await open(t, attachment)
  t.ok(Buffer.from(await response.arrayBuffer()).equals(photo))
  const kept = (await open(t, attachment, { keepsMetadata: true })).response
  t.ok(Buffer.from(await kept.arrayBuffer()).equals(body), 'unless metadata is kept')
})

t.test('502 for a picture that an earlier gateway stored and nobody can read', async (t) => {
  const body = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex')
  const { response } = await open(t, await storePicture({ number: 4, body }))
  t.equal(response.status, 502)
  t.match(await response.text(), /cannot be read/)
})
