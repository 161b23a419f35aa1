export interface DocumentedQuery {
  title: string
  /** SQL with parameters such as `{app:String}`. */
  sql: string
}

/**
 * The queries of docs/queries.md.
 *
 * @param page the text of the page; each heading of the third level has one query
 */
export function documentedQueries(page: string): DocumentedQuery[] {
  const sections = page.matchAll(/^### (.*)\n[^]*?```sql\n([^]*?)```$/gm)
  return Array.from(sections, ([, title = '', sql = '']) => ({ title, sql }))
}
