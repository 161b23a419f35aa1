import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { examinePicture } from '../src/index.ts'
import { jpegWith, segment } from './corpus/containers.ts'
import { createCorpus } from './corpus/corpus.ts'
import { exifBlock } from './corpus/tiff-writer.ts'

declare const window: {
  createImageBitmap(blob: object): Promise<{ width: number; height: number }>
  OffscreenCanvas: new (
    width: number,
    height: number,
  ) => {
    getContext(kind: '2d'): {
      drawImage(image: object, x: number, y: number): void
      getImageData(x: number, y: number, width: number, height: number): { data: Uint8Array }
    }
  }
}

const executablePath = findChromium()
const skip = executablePath === undefined && 'there is no Chromium'

/** Opens a page that can load each file in `files` from its path, which is the key in the map. */
async function startBrowser(t: Test): Promise<{ page: Page; files: Map<string, Served> }> {
  const files = new Map<string, Served>()
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    response.setHeader('content-type', file?.type ?? 'text/html')
    response.end(file?.bytes ?? '<!doctype html>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  t.teardown(async () => {
    await browser.close()
    server.close()
  })
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return { page, files }
}

interface Served {
  type: string
  bytes: Buffer
}

/** The pixels as Chromium shows them, upright; undefined if it cannot show the picture. */
async function shownIn(
  page: Page,
  path: string,
): Promise<{ width: number; height: number; data: string } | undefined> {
  return page.evaluate(async (url) => {
    const response = await fetch(url)
    const image = await window.createImageBitmap(await response.blob()).catch(() => undefined)
    if (image === undefined) return undefined
    const { width, height } = image
    const context = new window.OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    return { width, height, data: data.join() }
  }, path)
}

const [width, height] = [48, 32]
/** The colours of the corners from the top left, row by row: red, green, blue and white. */
const corners = [
  [250, 0, 0],
  [0, 250, 0],
  [0, 0, 250],
  [250, 250, 250],
] as const

/**
 * For each orientation, a function that takes the position (x, y) of a pixel as shown, and returns
 * the position of this pixel in the file. `w` and `h` are the size of the picture in the file.
 */
const storedAt: ((x: number, y: number, w: number, h: number) => [number, number])[] = [
  (x, y) => [x, y],
  (x, y, w) => [w - 1 - x, y],
  (x, y, w, h) => [w - 1 - x, h - 1 - y],
  (x, y, _w, h) => [x, h - 1 - y],
  (x, y) => [y, x],
  (x, y, _w, h) => [y, h - 1 - x],
  (x, y, w, h) => [w - 1 - y, h - 1 - x],
  (x, y, w) => [w - 1 - y, x],
]

/** Creates a picture that is upright once this orientation, 1 to 8, has been applied. */
async function turned(orientation: number): Promise<Buffer> {
  const [w, h] = orientation > 4 ? [height, width] : [width, height]
  const data = Buffer.alloc(w * h * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [column, row] = storedAt[orientation - 1]!(x, y, w, h)
      const corner = (y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)
      data.set(corners[corner]!, (row * w + column) * 3)
    }
  }
  const raw = { width: w, height: h, channels: 3 } as const
  const jpeg = await sharp(data, { raw })
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .toBuffer()
  return jpegWith(jpeg, [segment(0xe1, 'Exif\0\0', exifBlock({ orientation }))])
}

t.test('a picture of each of the eight orientations is upright', { skip }, async (t) => {
  const { page, files } = await startBrowser(t)
  for (let orientation = 1; orientation <= 8; orientation++) {
    const type = 'image/jpeg'
    const bytes = examinePicture(await turned(orientation), type).removeMetadata()
    files.set(`/${orientation}`, { type, bytes })
    const shown = await shownIn(page, `/${orientation}`)
    t.match(shown, { width, height }, `orientation ${orientation}`)
    const data = (shown?.data ?? '').split(',').map(Number)
    corners.forEach((color, corner) => {
      const x = corner % 2 === 0 ? 8 : width - 8
      const y = corner < 2 ? 8 : height - 8
      const at = (y * width + x) * 4
      const isRight = color.every((value, n) => Math.abs((data[at + n] ?? 0) - value) < 16)
      t.ok(isRight, `orientation ${orientation}, corner ${corner}`)
    })
  }
})

t.test('Chromium shows every picture as it was before', { skip }, async (t) => {
  const { page, files } = await startBrowser(t)
  const corpus = await createCorpus()
  for (const [n, { type, bytes }] of corpus.entries()) {
    files.set(`/${n}/before`, { type, bytes })
    const after = examinePicture(Buffer.from(bytes), type).removeMetadata()
    files.set(`/${n}/after`, { type, bytes: after })
  }
  const shown = await Promise.all(
    corpus.map(async (_sample, n) => [
      await shownIn(page, `/${n}/before`),
      await shownIn(page, `/${n}/after`),
    ]),
  )
  for (const [n, { name }] of corpus.entries()) {
    const [before, after] = shown[n]!
    // Chromium does not show a JPEG without an end-of-image marker. Removing metadata adds this
    // marker.
    if (before === undefined && name.includes('no end')) t.ok(after, name)
    else t.same(after, before, name)
  }
  const count = shown.filter(([before]) => before !== undefined).length
  t.ok(count > 40, `it shows ${count} pictures`)
})
