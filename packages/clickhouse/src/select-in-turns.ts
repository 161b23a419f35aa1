/**
 * SQL for the first `rowsMax` rows of `sql`, in turns: the first one of each application, then the
 * second ones. So one application, whatever its app sends, cannot push out what others sent. The
 * rows that are selected have the order again.
 */
export function selectInTurns(
  sql: string,
  options: { application: string; order: string; rowsMax: number },
): string {
  const { application, order, rowsMax } = options
  return `SELECT * EXCEPT (turn) FROM (
      SELECT *, row_number() OVER (PARTITION BY ${application} ORDER BY ${order}) AS turn
      FROM (${sql}) ORDER BY turn, ${order} LIMIT ${rowsMax}
    ) ORDER BY ${order}`
}
