/**
 * One step of the schema. ClickHouse has no transactions round DDL and two migrators may run at
 * once, so every statement must be harmless when it ran before (IF NOT EXISTS and the like).
 */
export interface Migration {
  name: string
  statements: readonly string[]
}
