import type { Edit } from './edit.ts'
import { hasText, Reader, setOfFourLetters } from './reader.ts'
import type { Walk } from './walk.ts'

/**
 * The tags of an ICC profile that define colours, or contain its name or its copyright. Other tags
 * may identify a device. For example, a screenshot contains the profile of its display, and `mmod`
 * (macOS) or `meta` (Linux) in this profile contains the serial number of the display.
 */
const keptTags = setOfFourLetters(
  'rXYZ,gXYZ,bXYZ,rTRC,gTRC,bTRC,kTRC,wtpt,bkpt,chad,chrm,lumi,gamt,cicp,desc,cprt,' +
    'A2B0,A2B1,A2B2,A2B3,B2A0,B2A1,B2A2,B2A3,D2B0,D2B1,D2B2,D2B3,B2D0,B2D1,B2D2,B2D3,' +
    'pre0,pre1,pre2,aabg,aagg,aarg,ndin,vcgt',
)
export const profileHeaderBytes = 128
/**
 * The parts of a profile's header that are kept. The other parts contain the time at which the
 * profile was made, its maker, the manufacturer and model of the device, and reserved bytes.
 */
const keptHeader: readonly Range[] = [
  [0, 24],
  [36, 48],
  [56, 80],
  [84, 100],
]
/** Profiles of real pictures have at most a few dozen. */
const tagsMax = 1_000
/** Each of its tags counts as one more (see `PartCount`). */
const profileParts = 4

type Range = readonly [from: number, to: number]

/** The place of a profile in a file, or of a piece of one. */
export interface Piece {
  from: number
  to: number
}

/**
 * Zeroes what is not needed to render: some tags, and parts of the header. Zeroes the whole profile
 * if it cannot be read or has too many tags.
 *
 * @param pieces the places of the profile in the file, in order; several in a JPEG
 */
export function scrubProfile(
  { bytes, edit, parts }: Pick<Walk, 'bytes' | 'edit' | 'parts'>,
  pieces: readonly [Piece, ...Piece[]],
): void {
  const contents = pieces.map(({ from, to }) => bytes.subarray(from, to))
  const profile = contents.length === 1 ? (contents[0] as Buffer) : Buffer.concat(contents)
  const reader = new Reader(profile, 'big-endian')
  const count = profile.length < profileHeaderBytes + 4 ? Infinity : reader.u32(profileHeaderBytes)
  const tableEnd = profileHeaderBytes + 4 + count * 12
  if (!hasText(profile, 36, 'acsp') || count > tagsMax || tableEnd > profile.length) {
    zeroInPieces(pieces, [[0, profile.length]], edit)
    return
  }
  parts.add(profileParts + count)
  const kept: Range[] = [...keptHeader, [profileHeaderBytes, tableEnd]]
  for (let tag = profileHeaderBytes + 4; tag < tableEnd; tag += 12) {
    if (!keptTags.has(reader.u32(tag))) continue
    const at = Math.min(reader.u32(tag + 4), profile.length)
    kept.push([at, Math.min(at + reader.u32(tag + 8), profile.length)])
  }
  kept.sort(([one], [other]) => one - other)
  const gaps: Range[] = []
  let end = 0
  for (const [start, stop] of [...kept, [profile.length, profile.length] as const]) {
    if (start > end && !isZero(profile, end, start)) gaps.push([end, start])
    end = Math.max(end, stop)
  }
  zeroInPieces(pieces, gaps, edit)
  // The header contains a hash of the profile, which is wrong after a change. Zeros mean that there
  // is no hash.
  if (gaps.length > 0) zeroInPieces(pieces, [[84, 100]], edit)
}

/** The ranges are in ascending order. One may cover several pieces. */
function zeroInPieces(pieces: readonly Piece[], ranges: readonly Range[], edit: Edit): void {
  let next = 0
  let at = 0
  for (const { from, to } of pieces) {
    const bytes = to - from
    for (let range = ranges[next]; range !== undefined && range[0] < at + bytes;) {
      edit.zero(from + Math.max(range[0] - at, 0), Math.min(from + range[1] - at, to))
      // A range that extends beyond this piece continues in the next.
      if (range[1] > at + bytes) break
      range = ranges[++next]
    }
    at += bytes
  }
}

/** The rest is compared with `Buffer.equals`, which is faster: a gap may be as large as the file. */
const nativeBytes = 64

function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < Math.min(to, from + nativeBytes); at++) if (bytes[at] !== 0) return false
  // The first bytes are zero. If each byte is also equal to the next one, all bytes are zero.
  return (
    to - from <= nativeBytes || bytes.subarray(from + 1, to).equals(bytes.subarray(from, to - 1))
  )
}
