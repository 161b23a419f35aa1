import { nothing } from './with-fallback.ts'

export type Serial = <Result>(task: () => Promise<Result>) => Promise<Result>

/** Runs one task after another. A task that fails does not prevent the next one. */
export const createSerial = (): Serial => {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(nothing)
    return result
  }
}
