export { type ClickHouse, type ClickHouseOptions, startClickHouse } from './clickhouse.ts'
export { type RedisOptions, startRedis } from './redis.ts'
export { startS3 } from './s3.ts'
export { randomSecret, type Service } from './service.ts'
