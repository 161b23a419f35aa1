import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { profileHeaderBytes, scrubProfile } from '../color-profile.ts'
import { Edit } from '../edit.ts'
import { orientationOnly, readOrientation } from '../orientation.ts'
import { PictureError } from '../picture-error.ts'
import { fourLetters, Reader } from '../reader.ts'
import { PartCount, Walk } from '../walk.ts'

const chunks = {
  header: fourLetters('IHDR'),
  /** The first chunk of files that Xcode made for an iPhone. */
  apple: fourLetters('CgBI'),
  data: fourLetters('IDAT'),
  end: fourLetters('IEND'),
  animation: fourLetters('acTL'),
  frame: fourLetters('fcTL'),
  frameData: fourLetters('fdAT'),
  exif: fourLetters('eXIf'),
  profile: fourLetters('iCCP'),
}
/** What is needed to render, and the bytes of its content: a longer chunk could hide a text. */
const sizes: readonly (readonly [names: string, min: number, max: number])[] = [
  ['IDAT', 0, Infinity],
  ['sRGB', 1, 1],
  ['sBIT', 1, 4],
  ['bKGD', 1, 6],
  ['tRNS', 1, 256],
  ['PLTE', 3, 768],
  ['CgBI,gAMA,cICP', 4, 4],
  ['fdAT', 4, Infinity],
  ['acTL,cLLI,cLLi', 8, 8],
  ['pHYs', 9, 9],
  ['IHDR', 13, 13],
  ['mDCV,mDCv', 24, 24],
  ['fcTL', 26, 26],
  ['cHRM', 32, 32],
]
const kept: ReadonlyMap<number, { min: number; max: number }> = new Map(
  sizes.flatMap(([names, min, max]) =>
    names.split(',').map((name) => [fourLetters(name), { min, max }] as const),
  ),
)
/** The length, the type and the checksum of a chunk. */
const framing = 12
/**
 * Profiles of displays have a few kilobytes, those with large tables a few hundred. The compressed
 * data has a limit too, because it can contain blocks that take time but inflate to nothing.
 */
const profileBytesMax = 512 * 1024
const compressedBytesMax = 128 * 1024
/**
 * A higher level of compression takes more time for a hostile profile, but makes it likelier that a
 * changed profile fits in its old place.
 */
const efforts = [
  { bytesMax: 8 * 1024, level: 9 },
  { bytesMax: 64 * 1024, level: 6 },
  { bytesMax: profileBytesMax, level: 4 },
] as const

/** Keeps what is needed to render, also animations. Of Exif, only the orientation is kept. */
export function walkPng(bytes: Buffer): Walk {
  const walk = new Walk(bytes)
  const { edit } = walk
  const reader = new Reader(bytes, 'big-endian')
  const isAnimated = hasAnimationHeader(reader)
  const found = new Set<number>()
  let last = 0
  edit.keep(0, 8)
  for (let at = 8; at + 8 <= bytes.length;) {
    walk.parts.add()
    const type = reader.u32(at + 4)
    const to = at + framing + reader.u32(at)
    if (at === 8 && type !== chunks.header && type !== chunks.apple) {
      throw new PictureError('its first chunk is not its header')
    }
    if (type === chunks.header) walk.measure(reader.u32(at + 8), reader.u32(at + 12))
    const isNeeded = draws(type, { found, last, isAnimated })
    if (to > bytes.length) {
      // The file was cut off within this chunk. Only pixels are kept.
      if (isNeeded && (type === chunks.data || type === chunks.frameData)) {
        found.add(type)
        edit.keep(at, bytes.length)
      }
      break
    }
    if (type === chunks.end) {
      replace(walk, { from: at, to }, Buffer.alloc(0))
      break
    }
    const range = kept.get(type)
    if (range !== undefined) {
      const size = to - at - framing
      if (isNeeded && size >= range.min && size <= range.max) edit.keep(at, to)
    } else if (type === chunks.exif && isNeeded) keepOrientation(walk, at, to)
    else if (type === chunks.profile && isNeeded) keepProfile(walk, at, to)
    found.add(type)
    last = type
    at = to
  }
  if (!found.has(chunks.data)) throw new PictureError('it has no pixels')
  return walk
}

/**
 * Whether decoders use a chunk. They ignore a second chunk of most kinds, pixels that do not
 * directly follow the other pixels, and frames without an animation's header before the pixels.
 */
function draws(
  type: number,
  { found, last, isAnimated }: { found: ReadonlySet<number>; last: number; isAnimated: boolean },
) {
  if (type === chunks.data) return last === chunks.data || !found.has(chunks.data)
  if (type === chunks.frame || type === chunks.frameData)
    return isAnimated || found.has(chunks.animation)
  return !found.has(type)
}

/** Some programs write the header of the first frame before it. */
function hasAnimationHeader(reader: Reader): boolean {
  const { length } = reader.bytes
  const parts = new PartCount()
  for (let at = 8; at + 8 <= length; at += framing + reader.u32(at)) {
    parts.add()
    const type = reader.u32(at + 4)
    if (type === chunks.animation) return true
    if (type === chunks.data || type === chunks.end) return false
  }
  return false
}

function keepOrientation(walk: Walk, from: number, to: number): void {
  const orientation = readOrientation(walk.bytes, from + 8, to - 4)
  if (orientation === undefined) return
  replace(walk, { from, to }, orientationOnly(orientation, to - from - framing))
}

/** The name `i` (the original one may be any text), a zero byte, and the compression method. */
const profileHead = Buffer.from('i\0\0')

/**
 * Keeps a profile, but removes its name and what `scrubProfile` zeroes. If the profile changes, or
 * bytes follow the compressed data, it is compressed again. The profile is left out if it is too
 * large, or does not fit in its old place.
 */
function keepProfile(walk: Walk, from: number, to: number): void {
  const { bytes, parts } = walk
  if (to - from > compressedBytesMax) return
  // First come a name of at most 79 characters, a zero byte, and the compression method.
  const nameEnd = bytes.subarray(0, Math.min(to - 4, from + 8 + 80)).indexOf(0, from + 8)
  if (nameEnd === -1) return
  const compressed = bytes.subarray(nameEnd + 2, to - 4)
  const inflated = inflate(compressed)
  if (inflated === undefined) return
  const { profile, usedBytes } = inflated
  const scrub = new Edit()
  scrubProfile({ bytes: profile, edit: scrub, parts }, [{ from: 0, to: profile.length }])
  scrub.keep(0, profile.length)
  const isClean = scrub.isEmpty(profile.length) && usedBytes === compressed.length
  const level = efforts.find(({ bytesMax }) => profile.length <= bytesMax)?.level
  const contentBytes = to - from - framing
  const tags = Buffer.from(profile.subarray(profileHeaderBytes))
  const scrubbed = isClean ? compressed : deflateSync(scrub.apply(profile), { level })
  // The new data can be too long, because some programs compress better than zlib. If only the
  // header of the profile differs, the old data is then kept: losing the colours would be worse.
  const hasSameTags =
    usedBytes === compressed.length && tags.equals(profile.subarray(profileHeaderBytes))
  for (const one of hasSameTags ? [scrubbed, compressed] : [scrubbed]) {
    const content = Buffer.concat([profileHead, one])
    if (content.length > contentBytes) continue
    replace(walk, { from, to }, content)
    return
  }
}

/** A text may follow the used bytes. Undefined if it cannot be decompressed, or is too large. */
function inflate(bytes: Buffer): { profile: Buffer; usedBytes: number } | undefined {
  try {
    const { buffer, engine } = inflateSync(bytes, {
      maxOutputLength: profileBytesMax,
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    return { profile: buffer, usedBytes: engine.bytesWritten }
  } catch {
    // Browsers, too, ignore a profile that cannot be decompressed.
    return undefined
  }
}

/** Replaces the content of a chunk. Its type remains. */
function replace(
  { bytes, edit }: Walk,
  { from, to }: { from: number; to: number },
  content: Buffer,
): void {
  const chunk = Buffer.alloc(framing + content.length)
  chunk.writeUInt32BE(content.length)
  bytes.copy(chunk, 4, from + 4, from + 8)
  content.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  edit.keep(from, from + chunk.length)
  if (chunk.length < to - from || !bytes.subarray(from, to).equals(chunk)) edit.set(from, chunk)
}
