import { GatewayConfig } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'

const Config = Type.Pick(GatewayConfig, ['REDIS_ACK_REPLICAS'])

/**
 * The number of replicas that gateways require to confirm a record.
 *
 * @throws {ConfigError} if `REDIS_ACK_REPLICAS` is wrong
 */
export const readAckReplicas = (): number => loadConfig(Config, process.env).REDIS_ACK_REPLICAS
