import type { Edit } from './edit.ts'
import { hasText, Reader, setOfFourLetters } from './reader.ts'
import type { PartCount } from './walked.ts'

/**
 * The tags of an ICC profile that define colours, or contain its name or its copyright. Other tags
 * may identify a device: `mmod` of macOS and `meta` of Linux have the serial number of the display,
 * and a screenshot has the profile of the display.
 */
const keptTags = setOfFourLetters(
  'rXYZ,gXYZ,bXYZ,rTRC,gTRC,bTRC,kTRC,wtpt,bkpt,chad,chrm,lumi,gamt,cicp,desc,cprt,' +
    'A2B0,A2B1,A2B2,A2B3,B2A0,B2A1,B2A2,B2A3,D2B0,D2B1,D2B2,D2B3,B2D0,B2D1,B2D2,B2D3,' +
    'pre0,pre1,pre2,aabg,aagg,aarg,ndin,vcgt',
)
export const profileHeaderBytes = 128
/**
 * The parts of the header of a profile that are kept. The others contain when the profile was made,
 * the manufacturer and the model of the device, who made the profile, and reserved bytes.
 */
const keptHeader: readonly (readonly [from: number, to: number])[] = [
  [0, 24],
  [36, 48],
  [56, 80],
  [84, 100],
]
/** A profile without tags counts as this many parts of the file (see `PartCount`). */
const profileParts = 4

/** The range of a file that contains a profile, or a piece of one. */
export interface Piece {
  from: number
  to: number
}

/**
 * Zeroes the tags and the parts of the header of an ICC profile that are not needed to render the
 * picture. A profile that cannot be read is zeroed entirely.
 *
 * @param pieces the places of the profile in the file, in order. In a JPEG a profile can consist of
 *   several pieces
 * @param walk.parts counts the parts of the whole file. A profile counts as `profileParts` parts
 *   and one for each tag, because a file can have many profiles
 */
export function scrubProfile(
  bytes: Buffer,
  pieces: readonly [Piece, ...Piece[]],
  { edit, parts }: { edit: Edit; parts: PartCount },
): void {
  const contents = pieces.map(({ from, to }) => bytes.subarray(from, to))
  const profile = contents.length === 1 ? (contents[0] as Buffer) : Buffer.concat(contents)
  const zero = (start: number, end: number) => zeroInPieces(pieces, { start, end }, edit)
  const reader = new Reader(profile, 'big-endian')
  const count = profile.length < profileHeaderBytes + 4 ? Infinity : reader.u32(profileHeaderBytes)
  const tableEnd = profileHeaderBytes + 4 + count * 12
  if (!hasText(profile, 36, 'acsp') || tableEnd > profile.length) {
    zero(0, profile.length)
    return
  }
  parts.add(profileParts + count)
  const kept: (readonly [from: number, to: number])[] = [
    ...keptHeader,
    [profileHeaderBytes, tableEnd],
  ]
  for (let tag = profileHeaderBytes + 4; tag < tableEnd; tag += 12) {
    if (!keptTags.has(reader.u32(tag))) continue
    const at = Math.min(reader.u32(tag + 4), profile.length)
    kept.push([at, Math.min(at + reader.u32(tag + 8), profile.length)])
  }
  kept.sort(([one], [other]) => one - other)
  let end = 0
  let isChanged = false
  for (const [start, stop] of [...kept, [profile.length, profile.length] as const]) {
    if (start > end && !isZero(profile.subarray(end, start))) {
      zero(end, start)
      isChanged = true
    }
    end = Math.max(end, stop)
  }
  // After a change, the profile's hash of itself is wrong. Zero means that there is no hash.
  if (isChanged) zero(84, 100)
}

/** Zeroes a range of the profile, which may extend over several pieces. */
function zeroInPieces(
  pieces: readonly Piece[],
  { start, end }: { start: number; end: number },
  edit: Edit,
): void {
  let at = 0
  for (const { from, to } of pieces) {
    if (at >= end) return
    edit.zero(from + Math.max(start - at, 0), Math.min(from + end - at, to))
    at += to - from
  }
}

function isZero(bytes: Buffer): boolean {
  // Compares each byte with the next. The native comparison is used because a gap may be as large
  // as the file.
  return bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1))
}
