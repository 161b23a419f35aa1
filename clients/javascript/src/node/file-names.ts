import { processMark } from './runs.ts'

// A directory may contain files of other programs, which the client must neither read nor remove.
// So it uses only files whose names have exactly these forms.

const uuid = String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`
const mark = String.raw`-pid\d+-\d+-\d+`
/**
 * The form of the name of a segment. The name begins with the key of the segment. When a segment is
 * halved, each half gets the same key with a further digit: 0 or 1.
 */
const segment = String.raw`${uuid}[01]*\.\d+\.[0-3]\.${uuid}${mark}(?:\.\d+){2}\.-?\d+`
const value = String.raw`(?:device|opted-out|dropped|feedback-${uuid})\.value`

const segmentForm = new RegExp(`^${segment}$`)
const valueForm = new RegExp(`^${value}$`)
const temporaryForm = new RegExp(String.raw`^(?:${segment}|${value})${mark}-\d+\.new$`)

export const isSegment = (name: string): boolean => segmentForm.test(name)
export const isValue = (name: string): boolean => valueForm.test(name)
/** Whether this is the name of a new file that is not complete yet. */
export const isTemporary = (name: string): boolean => temporaryForm.test(name)

export const valueName = (key: string): string => `${key}.value`
export const keyOfValue = (name: string): string => name.slice(0, -'.value'.length)

/** Names a file that is incomplete; `number` distinguishes the files that one thread writes. */
export const temporaryName = (name: string, number: number): string =>
  `${name}${processMark}-${number}.new`
