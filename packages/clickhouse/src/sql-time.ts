/** Prints a time in UTC as ClickHouse reads it in a parameter. */
export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').slice(0, -1)
}

/** Converts a time that ClickHouse printed in UTC to ISO 8601. */
export function isoTime(printed: string): string {
  return `${printed.replace(' ', 'T')}Z`
}
