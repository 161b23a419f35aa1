import type { ClickHouse } from '@intake/clickhouse'
import type { ObjectStore } from '@intake/object-store'
import type { Redis } from '@intake/redis'

/** Connections to Redis and to ClickHouse; the ClickHouse user is the owner of the tables. */
export interface RecordServices {
  clickhouse: ClickHouse
  redis: Redis
  installation: string
}

export interface Services extends RecordServices {
  objects: ObjectStore
}
