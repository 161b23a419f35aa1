/**
 * Calls that come before `work` has ended share its result. It starts at most once in a turn of the
 * event loop, so that frequent calls do not block the process.
 */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let shared: Promise<Result> | undefined
  return () =>
    (shared ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work).finally(() => {
      shared = undefined
    }))
}
