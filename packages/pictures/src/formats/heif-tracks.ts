import { PictureError } from '../picture-error.ts'
import { fourLetters, setOfFourLetters } from '../reader.ts'
import type { Box, HeifWalk } from './heif-walk.ts'
import { keepHandler } from './heif-items.ts'
import { keepProperty } from './heif-properties.ts'

const types = {
  track: fourLetters('trak'),
  movieHeader: fourLetters('mvhd'),
  trackHeader: fourLetters('tkhd'),
  mediaHeader: fourLetters('mdhd'),
  descriptions: fourLetters('stsd'),
  references: fourLetters('dref'),
  media: fourLetters('mdia'),
  mediaInfo: fourLetters('minf'),
  samples: fourLetters('stbl'),
  handler: fourLetters('hdlr'),
  sampleSizes: fourLetters('stsz'),
  samplesPerChunk: fourLetters('stsc'),
  chunks: fourLetters('stco'),
  largeChunks: fourLetters('co64'),
}
/** Boxes of `containers` contain others. Those of `drawing` are needed to render the pictures. */
const containers = setOfFourLetters('trak,mdia,minf,stbl,edts,dinf')
const drawing = setOfFourLetters(
  'mvhd,tkhd,tref,elst,mdhd,hdlr,vmhd,nmhd,stts,ctts,cslg,stss,stsc,stsz,' +
    'stco,co64,sdtp,sgpd,sbgp,subs',
)
/** The handlers of tracks that are pictures. Other tracks contain sound, text or timed metadata. */
const pictures = setOfFourLetters('pict,vide,auxv')

/** Keeps the tracks that contain pictures, with their samples. Returns their number. */
export function keepTracks(walk: HeifWalk, movie: Box): number {
  walk.ranges.add(movie.from, movie.content)
  let count = 0
  for (const box of walk.boxesIn(movie.content, movie.to)) {
    if (box.type !== types.track) keepBox(walk, box)
    else if (pictures.has(handlerOf(walk, box))) {
      count++
      keepBox(walk, box)
      keepSamples(walk, box)
    } else walk.free(box)
  }
  return count
}

/** The maximum depth of boxes. Real files have five levels. */
const depthMax = 8

function keepBox(walk: HeifWalk, box: Box, depth = 0): void {
  const { reader, ranges } = walk
  const { type, from, content, to } = box
  if (containers.has(type)) {
    if (depth > depthMax) throw new PictureError('its boxes are too deep')
    ranges.add(from, content)
    for (const child of walk.boxesIn(content, to)) keepBox(walk, child, depth + 1)
  } else if (type === types.handler) keepHandler(walk, box)
  else if (type === types.descriptions) keepDescriptions(walk, box)
  else if (type === types.references) keepReferences(walk, box)
  else if (drawing.has(type)) {
    ranges.add(from, to)
    if (timed.has(type)) zeroTimes(walk, box)
    // The last two numbers are the width and the height, each with 16 bits for the fraction.
    if (type === types.trackHeader && to - content >= 8) {
      walk.measure(reader.u16(to - 8), reader.u16(to - 4))
    }
  } else walk.free(box)
}

/**
 * The fields of a description of pictures: their length, and the range of the compressor's name.
 */
const description = { bytes: 78, nameFrom: 42, nameTo: 74 }

/** Keeps the descriptions of how samples are coded, and zeroes the names of the compressors. */
function keepDescriptions(walk: HeifWalk, box: Box): void {
  const { ranges, edit } = walk
  const entries = box.content + 8
  ranges.add(box.from, entries)
  for (const entry of walk.boxesIn(entries, box.to)) {
    const boxes = entry.content + description.bytes
    if (boxes > entry.to) throw new PictureError('a description of its samples is too short')
    ranges.add(entry.from, boxes)
    edit.zero(entry.content + description.nameFrom, entry.content + description.nameTo)
    for (const child of walk.boxesIn(boxes, entry.to)) keepProperty(walk, child)
  }
}

/** Zeroes the addresses of the files with the samples. */
function keepReferences(walk: HeifWalk, box: Box): void {
  walk.ranges.add(box.from, box.to)
  for (const { content, to } of walk.boxesIn(box.content + 8, box.to)) {
    walk.edit.zero(content + 4, to)
  }
}

/** The boxes that begin with the times of creation and of the last change. */
const timed: ReadonlySet<number> = new Set([
  types.movieHeader,
  types.trackHeader,
  types.mediaHeader,
])

/** Each has four bytes, or eight in version 1. */
function zeroTimes({ reader, edit }: HeifWalk, { content, to }: Box): void {
  const bytes = reader.u8(content) === 1 ? 16 : 8
  edit.zero(content + 4, Math.min(content + 4 + bytes, to))
}

function find(walk: HeifWalk, box: Box, ...path: number[]): Box | undefined {
  const [type, ...rest] = path
  if (type === undefined) return box
  for (const child of walk.boxesIn(box.content, box.to)) {
    if (child.type === type) return find(walk, child, ...rest)
  }
  return undefined
}

function handlerOf(walk: HeifWalk, track: Box): number {
  const handler = find(walk, track, types.media, types.handler)
  return handler === undefined ? 0 : walk.reader.u32(handler.content + 8)
}

/**
 * Keeps the samples of a track. The tables contain the offset of each chunk, the number of samples
 * in it, and the size of each sample.
 */
function keepSamples(walk: HeifWalk, track: Box): void {
  const { reader, ranges, parts } = walk
  const samples = find(walk, track, types.media, types.mediaInfo, types.samples)
  const table = (type: number) => samples && find(walk, samples, type)
  const sizes = table(types.sampleSizes)
  const perChunk = table(types.samplesPerChunk)
  const chunks = table(types.chunks)
  const largeChunks = table(types.largeChunks)
  const offsets = chunks ?? largeChunks
  if (sizes === undefined || perChunk === undefined || offsets === undefined) {
    throw new PictureError('it lacks a table of samples')
  }
  const offsetBytes = chunks === undefined ? 8 : 4
  const chunkCount = entriesOf(walk, offsets, 8, offsetBytes)
  const runs = entriesOf(walk, perChunk, 8, 12)
  const fixedSize = reader.u32(sizes.content + 4)
  const sampleCount =
    fixedSize === 0 ? entriesOf(walk, sizes, 12, 4) : reader.u32(sizes.content + 8)
  // Counts all entries of the tables, even those of samples after the end of the file.
  parts.add(runs + chunkCount + (fixedSize === 0 ? sampleCount : 0))
  let sample = 0
  let chunk = 1
  for (let run = 0; run < runs; run++) {
    const entry = perChunk.content + 8 + run * 12
    const first = reader.u32(entry)
    const end = run + 1 < runs ? reader.u32(entry + 12) : chunkCount + 1
    const samplesIn = reader.u32(entry + 4)
    // `chunk` never decreases. Otherwise a hostile file could contain runs of chunks that overlap,
    // and each chunk would be walked many times.
    for (chunk = Math.max(first, chunk); chunk < Math.min(end, chunkCount + 1); chunk++) {
      const at = offsets.content + 8 + (chunk - 1) * offsetBytes
      const from = offsetBytes === 4 ? reader.u32(at) : reader.u64(at)
      const last = Math.min(sample + samplesIn, sampleCount)
      let bytes = (last - sample) * fixedSize
      if (fixedSize === 0) {
        for (let n = sample; n < last; n++) bytes += reader.u32(sizes.content + 12 + n * 4)
      }
      ranges.add(from, from + bytes)
      sample = last
    }
  }
}

/** @throws {PictureError} unless all entries are inside the table */
function entriesOf({ reader }: HeifWalk, box: Box, head: number, entryBytes: number): number {
  const count = reader.u32(box.content + head - 4)
  if (box.content + head + count * entryBytes > box.to) {
    throw new PictureError('a table of its samples ends too early')
  }
  return count
}
