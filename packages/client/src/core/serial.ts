/** Runs one task after the other. A task that fails does not keep the next one. */
export function createSerial(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => undefined)
    return result
  }
}
