/**
 * Returns a function that shares the result of `work`: all calls that come before the work has
 * ended get the same result. The work starts at most once in a turn of the event loop, so that
 * frequent calls do not block the process.
 */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let shared: Promise<Result> | undefined
  return () =>
    (shared ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work).finally(() => {
      shared = undefined
    }))
}
