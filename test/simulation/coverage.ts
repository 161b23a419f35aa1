/**
 * Events that must occur in at least one simulated run; otherwise the success of all runs proves
 * nothing.
 */
export const occasions = [
  'acknowledgements',
  'refusals',
  'unknown responses',
  'keyed retries',
  'frames of several rows',
  'inserts of several frames',
  'redeliveries',
  'duplicate raw rows',
  'partial inserts',
  'zombie completions',
  'processes that ended in order',
  'records before a watermark',
] as const

export type Occasion = (typeof occasions)[number]
export type Coverage = Record<Occasion, number>

export function createCoverage(): Coverage {
  return Object.fromEntries(occasions.map((occasion) => [occasion, 0])) as Coverage
}

export function addCoverage(total: Coverage, more: Coverage): void {
  for (const occasion of occasions) total[occasion] += more[occasion]
}
