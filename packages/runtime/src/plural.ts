/** Returns the noun that follows a count: `1 row`, `2 rows`, `1 row waits`, `0 rows wait`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  count === 1 ? one : many
