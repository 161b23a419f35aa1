import { resolve } from 'node:path'
import { GatewayConfig, WorkerConfig } from '@intake/config'
import { secretNames } from '@intake/runtime'

const schemas = [GatewayConfig, WorkerConfig]
const secrets = new Set(schemas.flatMap(secretNames))
const names = new Set(schemas.flatMap(({ properties }) => Object.keys(properties)))
/** Such as ADMIN_HOST. */
const ofOneProcess = /(^|_)(HOST|PORT)$/

/**
 * What the environment sets for all gateways and workers: one more of them, and the commands, need it too. Of secrets the
 * files, not the values.
 */
export function sharedSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = [...names].filter((name) => !secrets.has(name) && !ofOneProcess.test(name))
  const files = [...secrets].map((name) => `${name}_FILE`)
  return Object.fromEntries([
    ...plain.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ...files.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
  ])
}
