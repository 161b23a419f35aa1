/** Comments by the name of the column. */
export type ColumnComments = Readonly<Record<string, string>>

export interface View {
  name: string
  comment: string
  columns: ColumnComments
  /** The query, without the semicolon. */
  select: string
}

/**
 * Statements that replace a view. It reads with the rights of the user who creates it, so its readers
 * need none on the raw tables.
 */
export const viewStatements = ({ name, comment, columns, select }: View): string[] => [
  `CREATE OR REPLACE VIEW intake.${name} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
${select}`,
  ...commentStatements({ name, comment, columns }),
]

/** Statements that explain a table or view, and its columns. */
export const commentStatements = (about: Omit<View, 'select'>): string[] => {
  const { name, comment, columns } = about
  const comments = Object.entries(columns).map(
    ([column, text]) => `COMMENT COLUMN ${column} ${quote(text)}`,
  )
  return [
    `ALTER TABLE intake.${name} MODIFY COMMENT ${quote(comment)}`,
    `ALTER TABLE intake.${name}\n  ${comments.join(',\n  ')}`,
  ]
}

const quote = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
