/** Returns the noun that follows a count: `1 row`, `2 rows`, `1 row waits`, `0 rows wait`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  count === 1 ? one : many

/** Returns a count with its noun. */
export const quantity = (count: number, one: string, many?: string): string =>
  `${count} ${plural(count, one, many)}`
