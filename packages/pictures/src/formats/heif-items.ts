import { scrubProfile } from '../color-profile.ts'
import { PictureError } from '../picture-error.ts'
import { fourLetters, setOfFourLetters, type Reader } from '../reader.ts'
import { boxesIn, type Box } from './boxes.ts'
import type { HeifWalk } from './heif-walk.ts'
import { zeroJpegMetadata } from './jpeg.ts'

const types = {
  handler: fourLetters('hdlr'),
  itemInfo: fourLetters('iinf'),
  itemLocation: fourLetters('iloc'),
  itemData: fourLetters('idat'),
  itemProperties: fourLetters('iprp'),
  properties: fourLetters('ipco'),
  associations: fourLetters('ipma'),
  primary: fourLetters('pitm'),
  references: fourLetters('iref'),
  dataInfo: fourLetters('dinf'),
  groups: fourLetters('grpl'),
  size: fourLetters('ispe'),
  channels: fourLetters('pixi'),
  auxiliary: fourLetters('auxC'),
  jpegStart: fourLetters('jpgC'),
  color: fourLetters('colr'),
  jpeg: fourLetters('jpeg'),
  skip: fourLetters('skip'),
}
/** The type of an item that is not an image, after its data was removed. Decoders ignore it. */
const skip = Buffer.from('skip')
/**
 * The colour types `prof` and `rICC` contain an ICC profile; other types consist of a few numbers.
 */
const profiles = setOfFourLetters('prof,rICC')
/** The number of bytes of the other colour types, including the type. */
const colorBytes: ReadonlyMap<number, number> = new Map([
  [fourLetters('nclx'), 11],
  [fourLetters('nclc'), 10],
])
/**
 * The sizes of the contents of boxes with fixed fields, in bytes. A longer one could contain a text.
 * `dinf` says that the data is in the same file; it could contain the address of another one.
 */
const fixedBytes: ReadonlyMap<number, readonly number[]> = new Map(
  Object.entries({
    dinf: [28],
    pitm: [6, 8],
    ispe: [12],
    pasp: [8],
    clap: [32],
    irot: [1],
    imir: [1],
    rloc: [12],
    lsel: [2],
    a1op: [1],
    clli: [4],
    mdcv: [24],
    amve: [8],
    btrt: [12],
    fiel: [2],
  }).map(([name, bytes]) => [fourLetters(name), bytes]),
)
const hasFixedBytes = ({ type, content, to }: Box) =>
  fixedBytes.get(type)?.includes(to - content) ?? true
/** The maximum size of the name of an auxiliary image's kind, such as a depth map. */
const auxiliaryBytesMax = 128
/** The types of the boxes that a `meta` box has at most once. */
const single: ReadonlySet<number> = new Set([
  types.primary,
  types.references,
  types.dataInfo,
  types.groups,
  types.handler,
  types.itemInfo,
  types.itemLocation,
  types.itemData,
  types.itemProperties,
])
/** The types of the items that are images, or that describe how images are combined. */
const images = setOfFourLetters(
  'hvc1,hev1,lhv1,av01,avc1,vvc1,evc1,j2k1,jpeg,unci,mski,grid,iden,iovl,tmap',
)
/**
 * The types of the properties that are needed to render an image. Other properties are texts
 * (`udes`), times (`crtt`), the position of the camera (`cmex`), or free space with any content.
 */
const drawing = setOfFourLetters(
  'ispe,pixi,colr,pasp,clap,irot,imir,iscl,rloc,auxC,lsel,hvcC,lhvC,av1C,avcC,vvcC,' +
    'evcC,j2kH,jpgC,uncC,cmpd,cmpC,icef,oinf,tols,a1op,a1lx,clli,mdcv,cclv,amve,reve,' +
    'ndwt,mskC,prdi,cicp,auxi,ccst,fiel,btrt',
)

/** The location of the data of an item. */
interface Location {
  id: number
  /** The data is in the file, in the box `idat`, or in another item. */
  place: 'file' | 'idat' | 'item'
  extents: { offset: number; length: number }[]
}

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
  for (const box of boxesIn(walk, content, meta.to)) {
    // Readers differ in which of two boxes they use.
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

/** Keeps a handler box, and zeroes what follows the type. */
export function keepHandler({ ranges, edit }: HeifWalk, box: Box): void {
  ranges.add(box.from, box.to)
  // After the type come reserved bytes and the name.
  edit.zero(box.content + 12, box.to)
}

/** Keeps the references between items that consist of nothing but their numbers. */
function keepReferences(walk: HeifWalk, box: Box): void {
  const { reader } = walk
  const idBytes = reader.u8(box.content) === 0 ? 2 : 4
  keepNumbers(walk, box, ({ content }) => {
    const count = reader.u16(content + idBytes)
    return idBytes + 2 + count * idBytes
  })
}

/** Keeps the groups of items that consist of nothing but their numbers. */
function keepGroups(walk: HeifWalk, box: Box): void {
  keepNumbers(walk, box, ({ content }) => 12 + walk.reader.u32(content + 8) * 4)
}

/**
 * Keeps the boxes in a list whose contents have as many bytes as their numbers need, and turns others
 * into free space.
 */
function keepNumbers(walk: HeifWalk, list: Box, bytesOf: (box: Box) => number): void {
  // A list of references begins with its version, a list of groups does not.
  const children = list.content + (list.type === types.references ? 4 : 0)
  walk.ranges.add(list.from, children)
  for (const box of boxesIn(walk, children, list.to)) {
    if (bytesOf(box) === box.to - box.content) walk.ranges.add(box.from, box.to)
    else walk.free(box)
  }
}

/**
 * Keeps the types of the images, and zeroes the names of all items. Returns the types by id, as they
 * were.
 */
function keepItemInfo(walk: HeifWalk, box: Box): Map<number, number> {
  const { reader, ranges, edit } = walk
  const kinds = new Map<number, number>()
  const entries = box.content + (reader.u8(box.content) === 0 ? 6 : 8)
  ranges.add(box.from, box.to)
  let end = entries
  for (const entry of boxesIn(walk, entries, box.to)) {
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
    // Refuses a second description of an item, because readers differ in which description they
    // use.
    if (kinds.has(id)) throw new PictureError('it describes an item twice')
    const kind = reader.u32(kindAt)
    kinds.set(id, kind)
    edit.zero(kindAt + 4, entry.to)
    // The data of the item is zeroed, and libavif refuses a file whose Exif or XMP is not valid.
    if (!images.has(kind) && kind !== types.skip) edit.set(kindAt, skip)
  }
  edit.zero(end, box.to)
  return kinds
}

function keepLocations({ reader, ranges, edit, parts }: HeifWalk, box: Box): Location[] {
  ranges.add(box.from, box.to)
  const version = reader.u8(box.content)
  if (version > 2) throw new PictureError('it has items of an unknown version')
  const numberBytes = reader.u16(box.content + 4)
  const [offsetBytes, lengthBytes, baseBytes, indexBytes] = [12, 8, 4, 0].map(
    (shift) => (numberBytes >> shift) & 0xf,
  ) as [number, number, number, number]
  let at = box.content + 6
  const next = (bytes: number) => {
    const value = readNumber(reader, at, bytes)
    at += bytes
    if (at > box.to) throw new PictureError('its list of items ends too early')
    return value
  }
  const idBytes = version < 2 ? 2 : 4
  const count = next(idBytes)
  const locations: Location[] = []
  for (let item = 0; item < count; item++) {
    parts.add()
    const id = next(idBytes)
    const method = version === 0 ? 0 : next(2) & 0xf
    next(2)
    const base = next(baseBytes)
    const extents: Location['extents'] = []
    for (let left = next(2); left > 0; left--) {
      parts.add()
      if (version > 0) next(indexBytes)
      const offset = base + next(offsetBytes)
      // A length of zero means that the data extends to the end of its container.
      extents.push({ offset, length: next(lengthBytes) || Infinity })
    }
    locations.push({ id, place: method === 0 ? 'file' : method === 1 ? 'idat' : 'item', extents })
  }
  edit.zero(at, box.to)
  return locations
}

function readNumber(reader: Reader, at: number, bytes: number): number {
  if (bytes === 0) return 0
  if (bytes === 2) return reader.u16(at)
  if (bytes === 4) return reader.u32(at)
  if (bytes === 8) return reader.u64(at)
  throw new PictureError('its list of items has numbers of an unknown size')
}

function keepProperties(walk: HeifWalk, box: Box): void {
  const { ranges } = walk
  ranges.add(box.from, box.content)
  for (const child of boxesIn(walk, box.content, box.to)) {
    if (child.type === types.associations) ranges.add(child.from, child.to)
    else if (child.type !== types.properties) walk.free(child)
    else {
      ranges.add(child.from, child.content)
      // Items refer to properties by their position in the list, so a removed property is replaced
      // by free space.
      for (const property of boxesIn(walk, child.content, child.to)) keepProperty(walk, property)
    }
  }
}

/** Keeps a property that is needed to render an image; turns any other into free space. */
export function keepProperty(walk: HeifWalk, property: Box): void {
  const { reader, ranges, edit, largest } = walk
  const { type, content, from, to } = property
  if (!drawing.has(type) || !hasNumbersOnly(walk, property)) {
    walk.free(property)
    edit.zero(content, to)
    return
  }
  ranges.add(from, to)
  if (type === types.size) largest.add(reader.u32(content + 4), reader.u32(content + 8))
  if (type === types.color && profiles.has(reader.u32(content))) {
    scrubProfile(reader.bytes, [{ from: content + 4, to }], walk)
  }
  if (type === types.jpegStart) {
    walk.dataBytes.add(to - content)
    zeroJpegMetadata(reader.bytes, { start: content, end: to, parts: walk.parts }, edit)
  }
}

/** Whether a property is no longer than the numbers that it consists of. */
function hasNumbersOnly({ reader }: HeifWalk, property: Box): boolean {
  const { type, content, to } = property
  const bytes = to - content
  if (type === types.channels) return bytes === 5 + reader.u8(content + 4)
  if (type === types.auxiliary) return bytes <= auxiliaryBytesMax
  if (type !== types.color) return hasFixedBytes(property)
  const kind = reader.u32(content)
  return profiles.has(kind) || colorBytes.get(kind) === bytes
}

/**
 * Zeroes the data of an item that is not an image. Data that nothing keeps is zeroed anyway. But an
 * image in a hostile file could refer to the same bytes, and then they would be kept.
 */
function zeroData(
  { reader, edit, dataBytes }: HeifWalk,
  { place, extents }: Location,
  data?: Box,
): void {
  if (place === 'item' || (place === 'idat' && data === undefined)) return
  const [from, end] = place === 'file' ? [0, reader.bytes.length] : [data!.content, data!.to]
  for (const { offset, length } of extents) {
    // An empty item may be written with the offset of an image, or with none. Its data would then
    // extend over all images.
    if (length === Infinity) continue
    const range = [Math.min(from + offset, end), Math.min(from + offset + length, end)] as const
    dataBytes.add(range[1] - range[0])
    edit.zero(...range)
  }
}

function keepData(
  { reader, ranges, edit, parts, dataBytes }: HeifWalk,
  { place, extents }: Location,
  { kind, data }: { kind: number; data: Box | undefined },
): void {
  if (place === 'item') throw new PictureError('an image of it is a part of another item')
  const from = place === 'file' ? 0 : data?.content
  const end = place === 'file' ? reader.bytes.length : data?.to
  if (from === undefined || end === undefined)
    throw new PictureError('it lacks the data of an item')
  for (const { offset, length } of extents) {
    const to = Math.min(from + offset + length, end)
    ranges.add(from + offset, to)
    if (kind !== types.jpeg) continue
    if (extents.length > 1) throw new PictureError('a JPEG in it has several parts')
    const range = { start: from + offset, end: to, parts }
    if (range.start >= to) continue
    dataBytes.add(to - range.start)
    zeroJpegMetadata(reader.bytes, range, edit)
  }
}
