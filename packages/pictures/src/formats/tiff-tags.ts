/** The tags whose values are read. */
export const tags = {
  width: 256,
  height: 257,
  compression: 259,
  stripOffsets: 273,
  stripBytes: 279,
  tileOffsets: 324,
  tileBytes: 325,
  subDirectories: 330,
  jpegTables: 347,
  profile: 34675,
}
/**
 * The tags that are needed to render an image: those of TIFF 6.0 and its supplements, and those for
 * colours in DNG, except the calibration of the individual camera.
 */
const keptTags: readonly (number | [first: number, last: number])[] = [
  [254, 259],
  [262, 266],
  [273, 274],
  [277, 284],
  [290, 293],
  [296, 297],
  301,
  [317, 332],
  334,
  336,
  [338, 347],
  [529, 532],
  [33421, 33422],
  34675,
  [50706, 50707],
  [50710, 50722],
  [50725, 50734],
  [50737, 50739],
  [50778, 50780],
  [50829, 50830],
]
export const isKept: ReadonlySet<number> = new Set(
  keptTags.flatMap((range) => {
    const [first, last] = typeof range === 'number' ? [range, range] : range
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  }),
)
