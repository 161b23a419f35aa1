import { scrubProfile } from '../color-profile.ts'
import { fourLetters, setOfFourLetters } from '../reader.ts'
import { hasFixedBytes, type Box, type HeifWalk } from './heif-walk.ts'
import { zeroJpegMetadata } from './jpeg.ts'

const types = {
  properties: fourLetters('ipco'),
  associations: fourLetters('ipma'),
  size: fourLetters('ispe'),
  channels: fourLetters('pixi'),
  auxiliary: fourLetters('auxC'),
  jpegStart: fourLetters('jpgC'),
  color: fourLetters('colr'),
}
/** These contain an ICC profile; other colour types consist of a few numbers. */
const profiles = setOfFourLetters('prof,rICC')
/** The size of a colour property without a profile, in bytes. It includes the type. */
const colorBytes: ReadonlyMap<number, number> = new Map([
  [fourLetters('nclx'), 11],
  [fourLetters('nclc'), 10],
])
/** A property that names the kind of an auxiliary image, such as a depth map. */
const auxiliaryBytesMax = 128
/**
 * The types of the properties that are needed to render an image. Other properties are texts
 * (`udes`), times (`crtt`), the position of the camera (`cmex`), or free space with any content.
 */
const drawing = setOfFourLetters(
  'ispe,pixi,colr,pasp,clap,irot,imir,iscl,rloc,auxC,lsel,hvcC,lhvC,av1C,avcC,vvcC,' +
    'evcC,j2kH,jpgC,uncC,cmpd,cmpC,icef,oinf,tols,a1op,a1lx,clli,mdcv,cclv,amve,reve,' +
    'ndwt,mskC,prdi,cicp',
)

/** Keeps the properties of `drawing`, and the table that assigns properties to images. */
export function keepProperties(walk: HeifWalk, box: Box): void {
  const { ranges } = walk
  ranges.add(box.from, box.content)
  for (const child of walk.boxesIn(box.content, box.to)) {
    if (child.type === types.associations) ranges.add(child.from, child.to)
    else if (child.type !== types.properties) walk.free(child)
    else {
      ranges.add(child.from, child.content)
      // Items refer to properties by their position in the list, so a removed property is replaced
      // by free space.
      for (const property of walk.boxesIn(child.content, child.to)) keepProperty(walk, property)
    }
  }
}

function keepProperty(walk: HeifWalk, property: Box): void {
  const { reader, ranges, edit } = walk
  const { type, content, from, to } = property
  if (!drawing.has(type) || !hasNumbersOnly(walk, property)) {
    walk.free(property)
    edit.zero(content, to)
    return
  }
  ranges.add(from, to)
  if (type === types.size) walk.measure(reader.u32(content + 4), reader.u32(content + 8))
  if (type === types.color && profiles.has(reader.u32(content))) {
    scrubProfile(walk, [{ from: content + 4, to }])
  }
  if (type === types.jpegStart) {
    walk.dataBytes.add(to - content)
    zeroJpegMetadata(walk, { start: content, end: to })
  }
}

/**
 * Whether a property is too short to contain a text besides its fields. Also true for an ICC
 * profile, from which `scrubProfile` removes texts, and for the short name of an image's kind.
 */
function hasNumbersOnly({ reader }: HeifWalk, property: Box): boolean {
  const { type, content, to } = property
  const bytes = to - content
  if (type === types.channels) return bytes === 5 + reader.u8(content + 4)
  if (type === types.auxiliary) return bytes <= auxiliaryBytesMax
  if (type !== types.color) return hasFixedBytes(property)
  const kind = reader.u32(content)
  return profiles.has(kind) || colorBytes.get(kind) === bytes
}
