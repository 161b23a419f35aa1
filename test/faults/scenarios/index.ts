import type { Scenario } from '../scenario.ts'
import { alertScenarios } from './alerts.ts'
import { clickhouseKillScenarios } from './clickhouse-kills.ts'
import { clickhouseScenarios } from './clickhouse.ts'
import { clockScenarios } from './clock.ts'
import { erasureScenarios } from './erasure.ts'
import { everythingScenarios } from './everything.ts'
import { exportScenarios } from './export.ts'
import { gatewayKillScenarios } from './gateway-kills.ts'
import { gatewayScenarios } from './gateway.ts'
import { identityScenarios } from './identity.ts'
import { poisonScenarios } from './poison.ts'
import { redisKillScenarios } from './redis-kills.ts'
import { redisStateScenarios } from './redis-state.ts'
import { redisScenarios } from './redis.ts'
import { ruleScenarios } from './rules.ts'
import { s3ObjectScenarios } from './s3-objects.ts'
import { s3Scenarios } from './s3.ts'
import { webhookScenarios } from './webhook.ts'
import { workerOverlapScenarios } from './worker-overlap.ts'
import { workerScenarios } from './worker.ts'

export const scenarios: Scenario[] = [
  ...gatewayKillScenarios,
  ...gatewayScenarios,
  ...workerScenarios,
  ...workerOverlapScenarios,
  ...poisonScenarios,
  ...redisKillScenarios,
  ...redisScenarios,
  ...redisStateScenarios,
  ...clickhouseKillScenarios,
  ...clickhouseScenarios,
  ...s3Scenarios,
  ...s3ObjectScenarios,
  ...webhookScenarios,
  ...everythingScenarios,
  ...clockScenarios,
  ...identityScenarios,
  ...erasureScenarios,
  ...ruleScenarios,
  ...exportScenarios,
  ...alertScenarios,
]
