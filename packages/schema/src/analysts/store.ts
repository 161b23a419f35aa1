import { randomBytes } from 'node:crypto'
import { nextSetAt, type ClickHouse } from '@intake/clickhouse'
import type { Analyst } from './analyst.ts'

export function readAnalysts(clickhouse: Pick<ClickHouse, 'query'>): Promise<Analyst[]> {
  return clickhouse.query<Analyst>(
    `SELECT name, bundles, without, pseudonyms, password_sha256 AS passwordSha256
     FROM intake.analysts FINAL WHERE is_removed = 0 ORDER BY name`,
  )
}

export const findAnalyst = async (
  clickhouse: Pick<ClickHouse, 'query'>,
  name: string,
): Promise<Analyst | undefined> =>
  (await readAnalysts(clickhouse)).find((analyst) => analyst.name === name)

/** Stores a definition, which `defineAnalyst` and every setup apply. */
export async function writeAnalyst(
  clickhouse: Pick<ClickHouse, 'command'>,
  { name, bundles, without, pseudonyms, passwordSha256 }: Analyst,
  { isRemoved = false } = {},
): Promise<void> {
  await clickhouse.command(
    `INSERT INTO intake.analysts (name, bundles, without, pseudonyms, password_sha256, is_removed, set_at)
     SELECT {name:String}, {bundles:Array(String)}, {without:Array(String)}, {pseudonyms:Array(String)},
       {password:String}, {removed:UInt8}, ${nextSetAt('analysts')}`,
    { name, bundles, without, pseudonyms, password: passwordSha256, removed: Number(isRemoved) },
  )
}

/** If two processes make a key at the same time, the views use the first. */
export const makePseudonymKey = (clickhouse: Pick<ClickHouse, 'command'>): Promise<void> =>
  clickhouse.command(
    `INSERT INTO intake.pseudonym_key (secret)
     SELECT {secret:String} WHERE (SELECT count() FROM intake.pseudonym_key) = 0`,
    { secret: randomBytes(32).toString('hex') },
  )
