export class DeadlineError extends Error {
  override name = 'DeadlineError'
}

/**
 * Settles like `work`, or rejects with `DeadlineError` after `ms` milliseconds. The work itself goes
 * on: its outcome is then unknown, and a late rejection of it is not an unhandled one.
 */
export async function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
