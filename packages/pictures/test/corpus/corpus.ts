import sharp, { type CreateRaw, type Sharp } from 'sharp'
import {
  animatedPng,
  chunk,
  gifExtension,
  gifWith,
  heifWith,
  jpegWith,
  pngWith,
  segment,
  webpWith,
} from './containers.ts'
import { colorProfile } from './color-profile.ts'
import { bmp } from './bmp.ts'
import { box, film, photoshop, planted, xmp } from './planted.ts'
import { heic } from './heic.ts'
import {
  blocks,
  directory,
  exifBlock,
  long,
  short,
  tiffMetadata,
  writeTiff,
  type Entry,
} from './tiff-writer.ts'

export interface Sample {
  name: string
  type: string
  bytes: Buffer
  width: number
  height: number
  /** The value of Exif's orientation; by default the image is upright. */
  orientation?: number
}

const width = 64
const height = 48
const size = { width, height }

/**
 * Creates pixels whose colours differ at every corner and have noise, so that a test notices every
 * change of the picture.
 */
function noise(channels: 1 | 3 | 4, frames = 1): { data: Buffer; raw: CreateRaw } {
  const rows = height * frames
  const data = Buffer.alloc(width * rows * channels)
  let state = 1
  for (let at = 0; at < data.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const pixel = Math.floor(at / channels)
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    const isFirst = at % channels === 0
    data[at] = ((isFirst ? x * 4 : y * 5) + (state >>> 28)) & 0xff
  }
  return { data, raw: { width, height: rows, channels, ...(frames > 1 && { pageHeight: height }) } }
}

function image(channels: 1 | 3 | 4 = 3, frames = 1): Sharp {
  const { data, raw } = noise(channels, frames)
  return sharp(data, { raw })
}

type NamedFile = [name: string, bytes: Buffer, orientation?: number]

const samplesOf = (type: string, files: readonly NamedFile[]): Sample[] =>
  files.map(([name, bytes, orientation]) => ({
    name,
    type,
    bytes,
    ...size,
    ...(orientation !== undefined && { orientation }),
  }))

const exifSegment = (options: Parameters<typeof exifBlock>[0]) =>
  segment(0xe1, 'Exif\0\0', exifBlock(options))
const xmpSegment = segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0', xmp)
const irrelevant = segment(0xe1, 'http://ns.adobe.com/xmp/extension/\0', planted, xmp)
const comment = segment(0xfe, planted)

async function jpegs(): Promise<Sample[]> {
  const [plain, progressive, gray, cmyk] = await Promise.all([
    image().jpeg({ quality: 90 }).toBuffer(),
    image().jpeg({ progressive: true }).toBuffer(),
    image(1).toColourspace('b-w').jpeg().toBuffer(),
    image().toColourspace('cmyk').jpeg().toBuffer(),
  ])
  const preview = await image().resize(16, 12).jpeg().toBuffer()
  const rgbPreview = Buffer.concat([Buffer.from([2, 2]), Buffer.from('PLANTED-RGB!')])
  const jfif = segment(0xe0, 'JFIF\0\x01\x02\0\0\x01\0\x01', rgbPreview)
  const icc = segment(0xe2, 'ICC_PROFILE\0\x01\x01', colorProfile())
  const [head, tail] = [colorProfile().subarray(0, 500), colorProfile().subarray(500)]
  const divided = [
    segment(0xe2, 'ICC_PROFILE\0\x02\x02', tail),
    segment(0xe2, 'ICC_PROFILE\0\x01\x02', head),
  ]
  const mpf = segment(0xe2, 'MPF\0', planted)
  const second = jpegWith(preview, [exifSegment({})])
  const files: NamedFile[] = [
    ['GPS in Exif, big-endian', jpegWith(plain, [exifSegment({})])],
    ['GPS in Exif, little-endian', jpegWith(plain, [exifSegment({ order: 'II' })])],
    ['a preview in Exif', jpegWith(plain, [exifSegment({ preview: second })])],
    ['XMP', jpegWith(plain, [xmpSegment])],
    ['extended XMP', jpegWith(plain, [xmpSegment, irrelevant, irrelevant])],
    ['IPTC', jpegWith(plain, [segment(0xed, photoshop())])],
    ['comments', jpegWith(plain, [comment, comment])],
    ['several pictures (MPF)', jpegWith(plain, [mpf], second)],
    ['a motion photo', jpegWith(plain, [xmpSegment], film())],
    ['an archive behind it', jpegWith(plain, [], Buffer.from(`PK\x03\x04${planted}`, 'latin1'))],
    ['a preview in JFIF', jpegWith(plain, [jfif])],
    ['an extension of JFIF', jpegWith(plain, [segment(0xe0, 'JFXX\0\x10', second)])],
    ['progressive', jpegWith(progressive, [exifSegment({}), comment])],
    ['gray', jpegWith(gray, [exifSegment({}), xmpSegment])],
    ['CMYK', jpegWith(cmyk, [exifSegment({}), comment])],
    ['the profile of a display', jpegWith(plain, [icc])],
    ['the profile of a display in two segments', jpegWith(plain, divided)],
    ['one of two segments of a profile', jpegWith(plain, divided.slice(0, 1))],
    ['a claim (C2PA)', jpegWith(plain, [segment(0xeb, 'JP\0\x01', planted)])],
    ['fill bytes and a comment between scans', betweenScans(progressive)],
    ['Exif twice', jpegWith(plain, [exifSegment({}), exifSegment({ orientation: 6 })])],
    ['cut off', jpegWith(plain, [exifSegment({})]).subarray(0, -200)],
    ['no end, and a film', Buffer.concat([plain.subarray(0, -2), film()])],
    [
      'no end, and a film that ends like a JPEG',
      Buffer.concat([plain.subarray(0, -2), film(), Buffer.from([0xff, 0xd9])]),
    ],
    [
      'no end, the type of a film by chance, and a film',
      Buffer.concat([plain.subarray(0, -2), Buffer.from('some ftyp'), film()]),
    ],
    ['no end, and the trailer of a Samsung phone', samsungPanorama(plain, film())],
    ...[0xc4, 0xd9, 0xda, 0xe5, 0xfe].flatMap((marker): NamedFile[] => {
      const name = `no end, and a film with the marker ${marker.toString(16)}`
      return [
        [name, Buffer.concat([plain.subarray(0, -2), film(marker)])],
        [`${name} in a Samsung trailer`, samsungPanorama(plain, film(marker))],
      ]
    }),
  ]
  const turned = Array.from({ length: 8 }, (_, n): NamedFile => {
    const order = n % 2 === 0 ? 'II' : 'MM'
    const bytes = jpegWith(plain, [exifSegment({ orientation: n + 1, order })])
    return [`orientation ${n + 1}`, bytes, n + 1]
  })
  return samplesOf('image/jpeg', [...files, ...turned])
}

/**
 * Creates a JPEG with a Samsung trailer in place of its end marker: blocks with a text and a film,
 * and then the directory of these blocks.
 */
function samsungPanorama(jpeg: Buffer, behind: Buffer): Buffer {
  const number = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer)
  const block = (name: string, content: Buffer) =>
    Buffer.concat([number(0x0a30_0000, name.length), Buffer.from(name), content])
  const parts = [
    block('Panorama_Shot_Info', Buffer.from(planted)),
    block('MotionPhoto_Data', behind),
  ] as const
  const [first, second] = [parts[0].length, parts[1].length]
  const index = Buffer.concat([
    Buffer.from('SEFH'),
    number(101, 2),
    number(0x0a30_0000, first + second, first),
    number(0x0a30_0000, second, second),
  ])
  const end = Buffer.concat([number(index.length), Buffer.from('SEFT')])
  return Buffer.concat([jpeg.subarray(0, -2), ...parts, index, end])
}

/** Puts a comment and fill bytes before the last scan of a progressive JPEG. */
function betweenScans(jpeg: Buffer): Buffer {
  const at = jpeg.lastIndexOf(Buffer.from([0xff, 0xda]))
  const fill = Buffer.from([0xff, 0xff, 0xff])
  return Buffer.concat([jpeg.subarray(0, at), comment, fill, jpeg.subarray(at)])
}

async function pngs(): Promise<Sample[]> {
  const [rgb, rgba, palette, gray16, interlaced] = await Promise.all([
    image().png().toBuffer(),
    image(4).png().toBuffer(),
    image().png({ palette: true, colours: 16 }).toBuffer(),
    image(1).toColourspace('grey16').png().toBuffer(),
    image().png({ progressive: true }).toBuffer(),
  ])
  const text = chunk('tEXt', `Comment\0${planted}`)
  const international = chunk('iTXt', 'XML:com.adobe.xmp\0\0\0\0\0', xmp)
  const files: NamedFile[] = [
    ['GPS in eXIf', pngWith(rgb, { early: [chunk('eXIf', exifBlock())] })],
    ['eXIf at the end', pngWith(rgba, { late: [chunk('eXIf', exifBlock({ order: 'II' }))] })],
    ['orientation', pngWith(rgb, { early: [chunk('eXIf', exifBlock({ orientation: 6 }))] }), 6],
    ['XMP in iTXt', pngWith(rgb, { early: [international] })],
    ['tEXt, twice', pngWith(palette, { early: [text], late: [text] })],
    [
      'a time and an unknown chunk',
      pngWith(gray16, { early: [chunk('tIME', planted.slice(0, 7)), chunk('prVt', planted)] }),
    ],
    [
      'a profile of a display',
      pngWith(rgb, { early: [chunk('iCCP', 'Display\0\0', colorProfile({ isCompressed: true }))] }),
    ],
    [
      'an archive behind it',
      pngWith(interlaced, { behind: Buffer.from(`PK\x03\x04${planted}`, 'latin1') }),
    ],
    ['animated', pngWith(animatedPng(rgb), { early: [text], late: [international] })],
    [
      'animated, the first frame before its header',
      pngWith(animatedPng(rgb, true), { early: [text] }),
    ],
    ['a claim (C2PA)', pngWith(rgb, { early: [chunk('caBX', planted)] })],
    ['cut off', pngWith(rgb, { early: [text] }).subarray(0, -300)],
  ]
  return samplesOf('image/png', files)
}

async function webps(): Promise<Sample[]> {
  const [lossy, lossless, alpha, animated] = await Promise.all([
    image().webp().toBuffer(),
    image().webp({ lossless: true }).toBuffer(),
    image(4).webp().toBuffer(),
    image(4, 3).webp().toBuffer(),
  ])
  const files: NamedFile[] = [
    ['GPS in Exif', webpWith(lossy, [['EXIF', exifBlock()]], size)],
    ['XMP, lossless', webpWith(lossless, [['XMP ', xmp]], size)],
    [
      'Exif with a prefix and XMP',
      webpWith(
        alpha,
        [
          ['EXIF', Buffer.concat([Buffer.from('Exif\0\0'), exifBlock()])],
          ['XMP ', xmp],
        ],
        size,
      ),
    ],
    ['orientation', webpWith(lossy, [['EXIF', exifBlock({ orientation: 8 })]], size), 8],
    ['an unknown chunk', webpWith(lossless, [['prVt', Buffer.from(planted)]], size)],
    [
      'animated',
      webpWith(
        animated,
        [
          ['EXIF', exifBlock()],
          ['XMP ', xmp],
        ],
        size,
      ),
    ],
    ['bytes behind it', Buffer.concat([lossy, Buffer.from(planted)])],
  ]
  return samplesOf('image/webp', files)
}

async function gifs(): Promise<Sample[]> {
  const [still, animated] = await Promise.all([
    image().gif().toBuffer(),
    image(4, 3).gif().toBuffer(),
  ])
  const application = (name: string, content: Buffer) =>
    gifExtension(0xff, content, Buffer.from(`\x0b${name}`, 'latin1'))
  const files: NamedFile[] = [
    ['a comment', gifWith(still, [gifExtension(0xfe, Buffer.from(planted.repeat(20)))])],
    ['XMP, animated', gifWith(animated, [application('XMP DataXMP', xmp)])],
    [
      'a text',
      gifWith(still, [
        gifExtension(
          0x01,
          Buffer.from(planted),
          Buffer.concat([Buffer.from([12]), Buffer.alloc(12)]),
        ),
      ]),
    ],
    ['an archive behind it', gifWith(animated, [], Buffer.from(`PK\x03\x04${planted}`, 'latin1'))],
    ['no end, but another block', Buffer.concat([still.subarray(0, -1), Buffer.from(planted)])],
  ]
  return samplesOf('image/gif', files)
}

async function heifs(): Promise<Sample[]> {
  const [avif, lossless] = await Promise.all([
    image().avif({ effort: 0 }).toBuffer(),
    image().avif({ lossless: true, effort: 0 }).toBuffer(),
  ])
  const exif = Buffer.concat([Buffer.alloc(4), exifBlock({ orientation: 6 })])
  const items: [type: string, content: Buffer][] = [
    ['Exif', exif],
    ['mime', xmp],
    ['uri ', Buffer.from(planted)],
  ]
  const unknown = box('uuid', Buffer.from(planted))
  const motion = box('mpvd', film())
  // This film has no index. If it had one, libheif would read the film instead of the picture.
  const another = Buffer.concat([
    box('ftyp', Buffer.from('mp42')),
    box('mdat', Buffer.from(planted)),
  ])
  const files: [name: string, type: string, bytes: Buffer][] = [
    ['Exif, XMP and a link', 'image/avif', heifWith(avif, { brand: 'avif', items })],
    [
      'lossless, an unknown box',
      'image/avif',
      heifWith(lossless, { brand: 'avif', items, atTop: [unknown] }),
    ],
    ['a motion photo', 'image/avif', heifWith(avif, { brand: 'avif', items, behind: motion })],
    [
      'another file behind it',
      'image/avif',
      heifWith(avif, { brand: 'avif', items, behind: another }),
    ],
    [
      'of libvips',
      'image/avif',
      await image()
        .withExif({ IFD0: { Copyright: planted }, IFD3: { GPSLatitudeRef: 'N' } })
        .withXmp(xmp.toString())
        .avif({ effort: 0 })
        .toBuffer(),
    ],
    ['AV1 in it', 'image/heif', heifWith(avif, { brand: 'mif1', items })],
    ['Exif, XMP and a link', 'image/heic', heifWith(heic, { brand: 'heic', items })],
    ['a motion photo', 'image/heic', heifWith(heic, { brand: 'heic', items, behind: motion })],
  ]
  // The image in `heic.ts` is coded with 64 rows. A `grid` item in its file shows only 48 of them,
  // but `heifWith` does not copy that item.
  return files.map(([name, type, bytes]) => ({
    name,
    type,
    bytes,
    width,
    height: type === 'image/heic' ? 64 : height,
  }))
}

/** The tags of a plain RGB TIFF whose strips have `rowsPerStrip` rows each. */
function rgbEntries(
  strips: Buffer[],
  rowsPerStrip: number,
  [compression, colors] = [1, 2],
): Entry[] {
  return [
    short(256, width),
    short(257, height),
    short(258, 8, 8, 8),
    short(259, compression),
    short(262, colors),
    blocks(273, ...strips),
    short(277, 3),
    short(278, rowsPerStrip),
    long(279, ...strips.map(({ length }) => length)),
  ]
}

async function tiffs(): Promise<Sample[]> {
  const { data } = noise(3)
  const strips = Array.from({ length: 3 }, (_, n) =>
    data.subarray(n * width * 3 * 16, (n + 1) * width * 3 * 16),
  )
  const entries = [...rgbEntries(strips, 16), ...tiffMetadata]
  const jpeg = await image().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()
  const icc = segment(0xe2, 'ICC_PROFILE\0\x01\x01', colorProfile())
  const adobe = segment(0xee, 'Adobe\0\x64\0\0\0\0\x01', planted)
  const inJpeg = jpegWith(
    jpeg,
    [exifSegment({}), comment, icc, adobe, Buffer.from(planted)],
    Buffer.from(planted),
  )
  const asJpeg = [...rgbEntries([inJpeg], height, [7, 6]), short(530, 1, 1), ...tiffMetadata]
  const parts = [...rgbEntries(strips, 16), directory(330, entries)]
  const files: NamedFile[] = [
    ['Exif, GPS, XMP and IPTC', writeTiff([entries], { order: 'II' })],
    ['big-endian', writeTiff([entries], { order: 'MM' })],
    ['BigTIFF', writeTiff([entries], { order: 'II', isBig: true })],
    ['several pages', writeTiff([entries, entries], { order: 'MM' })],
    ['another directory in it', writeTiff([parts], { order: 'II' })],
    ['JPEG in it', writeTiff([asJpeg], { order: 'II' })],
    [
      'bytes behind it',
      Buffer.concat([writeTiff([entries], { order: 'II' }), Buffer.from(planted)]),
    ],
    [
      'compressed',
      await image()
        .withExif({ IFD0: { Copyright: planted } })
        .withXmp(xmp.toString())
        .tiff({ compression: 'deflate', tile: true })
        .toBuffer(),
    ],
  ]
  return samplesOf('image/tiff', files)
}

function bmps(): Sample[] {
  const { data } = noise(3)
  const files: NamedFile[] = [
    [
      'a gap and bytes behind it',
      bmp({ ...size, data, gap: Buffer.from(planted), behind: Buffer.from(planted) }),
    ],
    ['a profile', bmp({ ...size, data, profile: colorProfile(), kind: 'DEBM' })],
    ['the name of a profile', bmp({ ...size, data, profile: Buffer.from(planted), kind: 'KNIL' })],
  ]
  return samplesOf('image/bmp', files)
}

/**
 * Creates pictures in every accepted format. They contain every kind of metadata that must be
 * removed.
 */
export async function createCorpus(): Promise<Sample[]> {
  const all = await Promise.all([jpegs(), pngs(), webps(), gifs(), heifs(), tiffs()])
  return [...all.flat(), ...bmps()].map((sample) => ({
    ...sample,
    name: `${sample.type}: ${sample.name}`,
  }))
}
