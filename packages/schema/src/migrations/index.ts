import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Migration } from './migration.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** In the order of their names. A released migration never changes: add another file. */
export const migrations: readonly Migration[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => ({
    name: basename(file, '.sql'),
    statements: splitStatements(readFileSync(new URL(file, folder), 'utf8')),
  }))

/** A statement ends with a semicolon and a line break. A line with `--` is a comment. */
function splitStatements(sql: string): string[] {
  return sql
    .replaceAll('\r\n', '\n')
    .replace(/^--.*\n/gm, '')
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
