/**
 * Measures until a result is below `limit`, at most five times; resolves to the lowest result. What
 * is always slow fails such a test. What is slow once does not, because a machine may do other work
 * at any time.
 */
export async function lowest(limit: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < 5 && least >= limit; attempt++)
    least = Math.min(least, await measure())
  return least
}
