/** The smallest useful `maxmemory`. It is enough for a ClickHouse outage of a few minutes. */
export const redisMemoryBytesMin = 128 * 1024 ** 2
