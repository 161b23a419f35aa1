import { PictureError } from '../picture-error.ts'
import { fourLetters, setOfFourLetters } from '../reader.ts'
import { hasFixedBytes, type Box, type HeifWalk } from './heif-walk.ts'
import { keepData, keepLocations, zeroData, type Location } from './heif-item-data.ts'
import { keepProperties } from './heif-properties.ts'

const types = {
  handler: fourLetters('hdlr'),
  itemInfo: fourLetters('iinf'),
  itemLocation: fourLetters('iloc'),
  itemData: fourLetters('idat'),
  itemProperties: fourLetters('iprp'),
  primary: fourLetters('pitm'),
  references: fourLetters('iref'),
  dataInfo: fourLetters('dinf'),
  groups: fourLetters('grpl'),
}
/** This type replaces the type of an item whose data is removed. Decoders ignore such items. */
const skip = Buffer.from('skip')
/** A `meta` box has each of these at most once. */
const single: ReadonlySet<number> = new Set(Object.values(types))
/** The types of the items that are images, or that describe how images are combined. */
const images = setOfFourLetters(
  'hvc1,hev1,lhv1,av01,avc1,vvc1,evc1,j2k1,jpeg,unci,mski,grid,iden,iovl,tmap',
)
/** Keeps the images in a `meta` box and the data of each. Returns the number of images. */
export function keepItems(walk: HeifWalk, meta: Box): number {
  const { ranges } = walk
  // The content begins after the version and the flags of the box.
  const content = meta.content + 4
  ranges.add(meta.from, content)
  let kinds: ReadonlyMap<number, number> = new Map()
  let locations: Location[] = []
  let data: Box | undefined
  const found = new Set<number>()
  for (const box of walk.boxesIn(content, meta.to)) {
    // Some programs use the first of two such boxes, and others the second.
    if (found.has(box.type) && single.has(box.type)) throw new PictureError('it has a list twice')
    found.add(box.type)
    if (box.type === types.handler) keepHandler(walk, box)
    else if (box.type === types.itemInfo) kinds = keepItemInfo(walk, box)
    else if (box.type === types.itemLocation) locations = keepLocations(walk, box)
    else if (box.type === types.itemProperties) keepProperties(walk, box)
    else if (box.type === types.references) keepReferences(walk, box)
    else if (box.type === types.groups) keepGroups(walk, box)
    else if (box.type === types.primary || box.type === types.dataInfo) {
      if (hasFixedBytes(box)) ranges.add(box.from, box.to)
      else walk.free(box)
    } else if (box.type === types.itemData) {
      ranges.add(box.from, box.content)
      data = box
    } else walk.free(box)
  }
  let count = 0
  for (const location of locations) {
    for (const { offset, length } of location.place === 'file' ? location.extents : []) {
      if (length !== Infinity) walk.end = Math.max(walk.end, offset + length)
    }
    const kind = kinds.get(location.id)
    if (kind === undefined || !images.has(kind)) {
      zeroData(walk, location, data)
      continue
    }
    count++
    keepData(walk, location, { kind, data })
  }
  return count
}

/** Keeps a handler box, and zeroes what follows the handler type in it. */
function keepHandler({ ranges, edit }: HeifWalk, box: Box): void {
  ranges.add(box.from, box.to)
  // After the handler type come reserved bytes and the name.
  edit.zero(box.content + 12, box.to)
}

/** Keeps those references between items that contain only the numbers of the items. */
function keepReferences(walk: HeifWalk, box: Box): void {
  const { reader } = walk
  const idBytes = reader.u8(box.content) === 0 ? 2 : 4
  keepNumbers(walk, box, ({ content }) => {
    const count = reader.u16(content + idBytes)
    return idBytes + 2 + count * idBytes
  })
}

/** Keeps those groups of items that contain only numbers. */
function keepGroups(walk: HeifWalk, box: Box): void {
  keepNumbers(walk, box, ({ content }) => 12 + walk.reader.u32(content + 8) * 4)
}

/** Keeps a box if its content is exactly its numbers; turns any other into free space. */
function keepNumbers(walk: HeifWalk, list: Box, bytesOf: (box: Box) => number): void {
  // A list of references begins with its version, a list of groups does not.
  const children = list.content + (list.type === types.references ? 4 : 0)
  walk.ranges.add(list.from, children)
  for (const box of walk.boxesIn(children, list.to)) {
    if (bytesOf(box) === box.to - box.content) walk.ranges.add(box.from, box.to)
    else walk.free(box)
  }
}

/** Replaces the types of all items that are no images, and zeroes names. Returns types by id. */
function keepItemInfo(walk: HeifWalk, box: Box): Map<number, number> {
  const { reader, ranges, edit } = walk
  const kinds = new Map<number, number>()
  const entries = box.content + (reader.u8(box.content) === 0 ? 6 : 8)
  ranges.add(box.from, box.to)
  let end = entries
  for (const entry of walk.boxesIn(entries, box.to)) {
    end = entry.to
    const version = reader.u8(entry.content)
    // Entries of versions 0 and 1 have no type, so they cannot be images.
    if (version < 2) {
      edit.zero(entry.content + 8, entry.to)
      continue
    }
    const idBytes = version === 2 ? 2 : 4
    const id = idBytes === 2 ? reader.u16(entry.content + 4) : reader.u32(entry.content + 4)
    const kindAt = entry.content + 4 + idBytes + 2
    // Some programs would use the first description, and others the second.
    if (kinds.has(id)) throw new PictureError('it describes an item twice')
    const kind = reader.u32(kindAt)
    kinds.set(id, kind)
    edit.zero(kindAt + 4, entry.to)
    // Changes the type of an item that is not an image, because its data is zeroed. libavif refuses
    // a file with an item of the type Exif or XMP whose data is not valid.
    if (!images.has(kind) && kind !== skip.readUInt32BE()) edit.set(kindAt, skip)
  }
  edit.zero(end, box.to)
  return kinds
}
