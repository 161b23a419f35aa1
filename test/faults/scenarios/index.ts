import type { Scenario } from '../scenario.ts'
import { redisScenarios } from './redis.ts'
import { workerScenarios } from './worker.ts'

export const scenarios: Scenario[] = [...workerScenarios, ...redisScenarios]
