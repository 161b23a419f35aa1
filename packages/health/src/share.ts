/**
 * The same work, done once for all who ask before it ends, and begun at most once in a turn of the event loop, so that
 * whoever asks often does not stop the process.
 */
export function share<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let shared: Promise<Result> | undefined
  return () =>
    (shared ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work).finally(() => {
      shared = undefined
    }))
}
