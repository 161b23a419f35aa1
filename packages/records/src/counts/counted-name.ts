/** Names that apps choose are shorter; values as names may not be. */
const bytesMax = 255

/**
 * SQL for a name as it is counted. A long one is cut, with a hash of the whole, before rows are
 * grouped, so that values of any length as names do not use up the memory of ClickHouse.
 */
export const countedName = (name: string) =>
  `if(length(${name}) <= ${bytesMax}, ${name}, concat(substringUTF8(${name}, 1, 100), '… ', hex(sipHash64(${name}))))`
