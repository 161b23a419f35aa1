export { type ClickHouse, type ClickHouseOptions, startClickHouse } from './clickhouse.ts'
export { type RedisOptions, startRedis } from './redis.ts'
export { type S3Options, startS3 } from './s3.ts'
export { randomSecret, type Service, type ServiceOptions } from './service.ts'
