export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').slice(0, -1)
}

export function isoTime(printed: string): string {
  return `${printed.replace(' ', 'T')}Z`
}

/** SQL for when a row is set: after all others of its table, also if the clock has stepped back. */
export const nextSetAt = (table: string): string =>
  `greatest(now64(3, 'UTC'), (SELECT max(set_at) FROM intake.${table}) + toIntervalMillisecond(1))`
