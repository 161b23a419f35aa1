/** What has to go wrong, somewhere in all the runs, for their success to prove anything. */
export const occasions = [
  'acknowledgements',
  'refusals',
  'unknown answers',
  'keyed retries',
  'frames of several rows',
  'inserts of several frames',
  'redeliveries',
  'duplicate raw rows',
  'partial inserts',
  'zombie completions',
] as const

export type Occasion = (typeof occasions)[number]
export type Coverage = Record<Occasion, number>

export function createCoverage(): Coverage {
  return Object.fromEntries(occasions.map((occasion) => [occasion, 0])) as Coverage
}

export function addCoverage(total: Coverage, more: Coverage): void {
  for (const occasion of occasions) total[occasion] += more[occasion]
}
