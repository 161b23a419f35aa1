import { nothing } from './with-fallback.ts'

/** Runs one task after another. A task that fails does not prevent the next one. */
export function createSerial(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(nothing)
    return result
  }
}
