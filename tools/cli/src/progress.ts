import { note } from './print.ts'

/** Returns a function that prints progress on standard error, but no sentence twice in a row. */
export function createProgress(): (sentence: string) => void {
  let last: string | undefined
  return (sentence) => {
    if (sentence === last) return
    last = sentence
    note(sentence)
  }
}
