/** The comment on each column, by the column's name; empty: none. */
export type ColumnComments = Readonly<Record<string, string>>

/** A view, or the comments on a table that a migration has created. */
export interface Definition {
  name: string
  comment: string
  columns: ColumnComments
  /** The query of a view, without the semicolon; absent for a table. */
  select?: string
}

/**
 * A view reads with the rights of its definer (by default who executes the statements), so its
 * readers need none on the raw tables.
 */
export const statementsOf = (
  { name, comment, columns, select }: Definition,
  { database = 'intake', definer = 'CURRENT_USER', on = '' } = {},
): string[] => {
  const comments = [
    `MODIFY COMMENT ${quote(comment)}`,
    ...Object.entries(columns).flatMap(([column, text]) =>
      text === '' ? [] : [`COMMENT COLUMN ${column} ${quote(text)}`],
    ),
  ]
  const view =
    select === undefined
      ? []
      : [
          `CREATE OR REPLACE VIEW ${database}.${name}${on} DEFINER = ${definer} SQL SECURITY DEFINER AS
${select}`,
        ]
  return [...view, `ALTER TABLE ${database}.${name}${on}\n  ${comments.join(',\n  ')}`]
}

export const quote = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
