/**
 * SQL for the first `rowsMax` rows of `sql`, in turns: the first one of each application, then the
 * second ones. So one application, whatever its app sends, cannot push out what others sent. The
 * owners of applications take turns before, so neither can who invents applications. The rows that
 * are selected have the order again.
 */
export function selectInTurns(
  sql: string,
  options: { application: string; owner?: string; order: string; rowsMax: number },
): string {
  const { application, owner = "''", order, rowsMax } = options
  return `SELECT * EXCEPT (turn, place) FROM (
      SELECT *, row_number() OVER (PARTITION BY ${owner} ORDER BY turn, ${order}) AS place FROM (
        SELECT *, row_number() OVER (PARTITION BY ${application} ORDER BY ${order}) AS turn FROM (${sql}))
      ORDER BY place, turn, ${order} LIMIT ${rowsMax}
    ) ORDER BY ${order}`
}

const scopesMax = 500
/**
 * SQL for the scope of an API key that has the application: its identifier, or the longest prefix.
 * Empty: none of the first `scopesMax` has.
 */
export function ownerOf(scopes: readonly string[]): string {
  const list = (some: readonly string[]) =>
    [...some, ''].map((one) => `'${one.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(', ')
  const [prefixes, names] = [true, false].map((isPrefix) =>
    scopes
      .filter((one) => one.endsWith('.*') === isPrefix)
      .slice(0, scopesMax)
      .toSorted((a, b) => b.length - a.length),
  ) as [string[], string[]]
  return `if(bundle_identifier IN (${list(names)}), toString(bundle_identifier),
    arrayFirst(prefix -> startsWith(bundle_identifier, prefix), [${list(prefixes.map((one) => one.slice(0, -1)))}]))`
}
