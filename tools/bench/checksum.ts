/** Identifies a set of ids. Equal sets have equal digests; different sets almost never do. */
export interface IdDigest {
  count: number
  distinct: number
  /** Sum of the second halves of the UUIDs (62 random bits each) modulo 2^64, in decimal. */
  checksum: string
}

export function digestIds(ids: readonly string[]): IdDigest {
  let sum = 0n
  for (const id of ids) sum += BigInt(`0x${id.slice(19, 23)}${id.slice(24)}`)
  return {
    count: ids.length,
    distinct: new Set(ids).size,
    checksum: BigInt.asUintN(64, sum).toString(),
  }
}

/** The same digest as `digestIds`, computed by ClickHouse over the rows of a query. */
export const digestSql = `count() AS count, uniqExact(id) AS distinct,
  toString(sum(reinterpretAsUInt64(reverse(substring(unhex(replaceAll(toString(id), '-', '')), 9, 8))))) AS checksum`
