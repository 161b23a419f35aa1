import { PictureError } from '../picture-error.ts'
import { fourLetters, setOfFourLetters } from '../reader.ts'
import type { Walk } from '../walk.ts'
import { HeifWalk, type Box } from './heif-walk.ts'
import { keepItems } from './heif-items.ts'

const types = {
  fileType: fourLetters('ftyp'),
  items: fourLetters('meta'),
  data: fourLetters('mdat'),
}
/** The boxes of films and of sequences of pictures. */
const films = setOfFourLetters('moov,moof')

/**
 * Keeps the images of HEIC, HEIF and AVIF, and the data to which they refer. Zeroes everything
 * else: Exif, XMP and other items that are not images, unknown boxes, and the bytes between them.
 * This is done in place, so that no offset changes.
 */
export function walkHeif(bytes: Buffer): Walk {
  const walk = new HeifWalk(bytes)
  const { ranges } = walk
  let images: number | undefined
  /** The unknown boxes since the last known one; cut off from `walk.end` on if none follows. */
  let unused: Box[] = []
  for (const box of walk.boxesIn(0, bytes.length, { isFile: true })) {
    // Another file begins here: a film that was appended.
    if (box.type === types.fileType && box.from > 0) break
    if (films.has(box.type)) throw new PictureError('it is a sequence of pictures')
    if (!known.has(box.type)) {
      unused.push(box)
      continue
    }
    for (const one of unused) walk.free(one)
    unused = []
    walk.end = Math.max(walk.end, box.to)
    if (box.type === types.fileType) ranges.add(box.from, box.to)
    else if (box.type === types.data) ranges.add(box.from, box.content)
    else {
      // Some programs use the first of two such boxes, and others the second.
      if (images !== undefined) throw new PictureError('it has a list twice')
      images = keepItems(walk, box)
    }
  }
  if (!images) throw new PictureError('it has no image')
  for (const box of unused) {
    if (box.from >= walk.end) break
    walk.free(box)
    walk.end = Math.max(walk.end, box.to)
  }
  ranges.keepOnly(walk.edit, walk.end)
  return walk
}

const known: ReadonlySet<number> = new Set(Object.values(types))
