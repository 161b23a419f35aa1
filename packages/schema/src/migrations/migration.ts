/** Two migrators may run at once, so every statement can be repeated (IF NOT EXISTS). */
export interface Migration {
  name: string
  statements: readonly string[]
}
