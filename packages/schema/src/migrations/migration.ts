/**
 * A migration of the schema. ClickHouse has no transactions around DDL, and two migrators may run
 * at once. So it must be harmless to repeat any statement (IF NOT EXISTS and the like).
 */
export interface Migration {
  name: string
  statements: readonly string[]
}
