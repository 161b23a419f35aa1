import { note } from './print.ts'

/** Prints progress on standard error, each sentence once in a row. */
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
