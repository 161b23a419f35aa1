import { latin1, u16, u32 } from './bytes.ts'

/** Exif with as many entries as the gateway reads. None of them is the orientation. */
export const longExif = Buffer.concat([latin1('MM\0*'), u32(8), u16(1_000), Buffer.alloc(12_000)])

/**
 * A color profile whose tags have one byte each. The gateway keeps these tags. The bytes in the
 * gaps between them are not zero, so the gateway has to zero them.
 */
export function profileOfTags(tags: number): Buffer {
  const tableEnd = 132 + tags * 12
  const profile = Buffer.alloc(tableEnd + 2 * tags + 1, 1)
  profile.write('acsp', 36, 'latin1')
  profile.writeUInt32BE(tags, 128)
  for (let tag = 0; tag < tags; tag++) {
    profile.write('desc', 132 + tag * 12, 'latin1')
    // The first tag has the last position, so the gateway has to sort the positions.
    profile.writeUInt32BE(tableEnd + 2 * (tags - tag), 136 + tag * 12)
    profile.writeUInt32BE(1, 140 + tag * 12)
  }
  return profile
}

/**
 * A color profile that the gateway keeps. It has one tag, and the bytes before the tag are not all
 * zero.
 */
export function profileOf(content: Buffer): Buffer {
  const profile = Buffer.alloc(160 + content.length)
  profile.write('acsp', 36, 'latin1')
  profile.writeUInt32BE(1, 128)
  profile.write('desc', 132, 'latin1')
  profile.writeUInt32BE(160, 136)
  profile.writeUInt32BE(content.length, 140)
  profile[150] = 1
  content.copy(profile, 160)
  return profile
}
