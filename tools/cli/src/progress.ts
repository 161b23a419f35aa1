import { note } from './print.ts'

/** Prints progress on standard error. A sentence that repeats the last one is omitted. */
export function createProgress(): { say: (sentence: string) => void } {
  let last: string | undefined
  return {
    say(sentence) {
      if (sentence === last) return
      last = sentence
      note(sentence)
    },
  }
}
