/**
 * A migration of the schema. ClickHouse has no transactions around DDL, and two migrators may run
 * at once, so every statement must be harmless when repeated (IF NOT EXISTS and the like).
 */
export interface Migration {
  name: string
  statements: readonly string[]
}
