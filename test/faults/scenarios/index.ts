import type { Scenario } from '../scenario.ts'
import { clickhouseScenarios } from './clickhouse.ts'
import { everythingScenarios } from './everything.ts'
import { gatewayScenarios } from './gateway.ts'
import { poisonScenarios } from './poison.ts'
import { redisStateScenarios } from './redis-state.ts'
import { redisScenarios } from './redis.ts'
import { s3Scenarios } from './s3.ts'
import { workerScenarios } from './worker.ts'

export const scenarios: Scenario[] = [
  ...gatewayScenarios,
  ...workerScenarios,
  ...poisonScenarios,
  ...redisScenarios,
  ...redisStateScenarios,
  ...clickhouseScenarios,
  ...s3Scenarios,
  ...everythingScenarios,
]
